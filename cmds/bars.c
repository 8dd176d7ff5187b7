/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draws the contents of devices: data, metadata, misplaced chunks and free space.
 * Each bar is one whole device, independent of its size.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmds/bars.h"

#define NARROW 40
#define WIDE 160
#define WIDTH 80

enum { DATA, METADATA, MISPLACED, FREE, PARTS };

static const char letters[PARTS] = { '#', '=', '!', '.' };
static const char *const names[PARTS] = { "data", "metadata", "misplaced", "free" };
/* Blue, magenta, red, dim. */
static const char *const colours[PARTS] = { "\033[34m", "\033[35m", "\033[31m", "\033[2m" };

static void put_part(int part, int count, bool colour)
{
	if (colour && count)
		fputs(colours[part], stdout);
	for (int i = 0; i < count; i++)
		putchar(letters[part]);
	if (colour && count)
		fputs("\033[0m", stdout);
}

/* A part that is not empty has at least one column, taken from the largest part. */
static void put_bar(const uint64_t *bytes, int width, bool colour)
{
	double all = 0, before = 0;	/* sums that do not overflow */
	int columns[PARTS], largest = 0, used = 0;

	for (int part = 0; part < PARTS; part++)
		all += bytes[part];
	for (int part = 0; part < PARTS; part++) {
		before += bytes[part];
		columns[part] = all ? (int)(before / all * width + 0.5) - used : 0;
		used += columns[part];
		largest = bytes[part] > bytes[largest] ? part : largest;
	}
	for (int part = 0; part < PARTS; part++) {
		if (bytes[part] && !columns[part]) {
			columns[part]++;
			columns[largest]--;
		}
	}
	putchar('[');
	for (int part = 0; part < PARTS; part++)
		put_part(part, columns[part], colour);
	printf("%*s]\n", all ? 0 : width, "");
}

void bars_print(const struct btrfs_policy_placement *placement)
{
	const struct btrfs_policy_device_usage *row;
	bool colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	const char *columns = getenv("COLUMNS");
	int width = columns ? atoi(columns) : 0;
	struct winsize size = {};

	/* $COLUMNS, which a user or a test may set, else that of the terminal. */
	if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (width <= 0)
		width = WIDTH;
	width = width < NARROW ? NARROW : width > WIDE ? WIDE : width;
	printf("\nEach device:");
	for (int part = 0; part < PARTS; part++) {
		putchar(' ');
		put_part(part, 1, colour);
		printf(" %s%s", names[part], part + 1 < PARTS ? "," : "\n");
	}
	for (size_t i = 0; (row = btrfs_policy_placement_device(placement, i)); i++) {
		uint64_t bytes[PARTS] = { [FREE] = row->unallocated };

		for (int kind = 0; kind < BTRFS_POLICY_KINDS; kind++) {
			bool data = kind == BTRFS_POLICY_KIND_DATA || kind == BTRFS_POLICY_KIND_MIXED;

			bytes[data ? DATA : METADATA] += row->bytes[kind] - row->misplaced_bytes[kind];
			bytes[MISPLACED] += row->misplaced_bytes[kind];
		}
		/* The last column stays empty: a full line wraps on some terminals. */
		put_bar(bytes, width - 3 - printf("%4" PRIu64 " ", row->devid), colour);
	}
}
