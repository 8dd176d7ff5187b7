/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sizes as btrfs prints them.  It computes with single precision, so "-k" of a
 * terabyte is rounded to 24 bits there; scripts compare the two, so here too.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmds/cli/units.h"

void units_choose(struct units *units, int choice)
{
	switch (choice) {
	case CHOOSE_RAW:
		*units = (struct units){ .raw = true };
		break;
	case CHOOSE_HUMAN_BINARY:
	case CHOOSE_HUMAN_DECIMAL:
		*units = UNITS_DEFAULT;
		units->decimal = choice == CHOOSE_HUMAN_DECIMAL;
		break;
	case CHOOSE_BINARY:
	case CHOOSE_DECIMAL:
		units->raw = false;
		units->decimal = choice == CHOOSE_DECIMAL;
		break;
	default:
		units->step = 1 + (choice - CHOOSE_KILO);
	}
}

char *units_format(uint64_t size, const struct units *units, char *text)
{
	static const char *const suffixes[2][7] = {
		{ "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" },
		{ "B", "kB", "MB", "GB", "TB", "PB", "EB" },
	};
	uint64_t base = units->decimal ? 1000 : 1024, unit = 1, rest = size;
	int step = 0;

	if (units->raw) {
		snprintf(text, UNITS_TEXT, "%" PRIu64, size);
		return text;
	}
	if (units->step) {
		for (; step < units->step; step++)
			unit *= base;
	} else {
		/* Largest unit that leaves a number from 1 on; btrfs drops what two steps down would add. */
		for (; rest >= base; rest /= base, step++) {
			size = rest;
			unit = base;
		}
	}
	snprintf(text, UNITS_TEXT, "%.2f%s", (double)((float)size / (float)unit),
		 suffixes[units->decimal][step]);
	return text;
}

char *units_count(uint64_t number, const char *noun, char *text)
{
	snprintf(text, UNITS_TEXT, "%" PRIu64 " %s%s", number, noun, number == 1 ? "" : "s");
	return text;
}
