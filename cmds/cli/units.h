/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sizes for people, to the letter as btrfs prints them, and the state that the
 * unit options of a command leave behind.
 */
#ifndef CMDS_UNITS_H
#define CMDS_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct units {
	int step;		/* 1 for kilo, 2 for mega ...; 0: the unit that suits each number */
	bool decimal;
	bool raw;		/* plain bytes without a suffix */
};

#define UNITS_DEFAULT ((struct units){ .step = 0 })

/* The meaning of a unit option; each modifies the result of the previous ones. */
enum {
	CHOOSE_RAW,
	CHOOSE_HUMAN_BINARY,
	CHOOSE_HUMAN_DECIMAL,
	CHOOSE_BINARY,
	CHOOSE_DECIMAL,
	CHOOSE_KILO,
	CHOOSE_MEGA,
	CHOOSE_GIGA,
	CHOOSE_TERA,
};

void units_choose(struct units *units, int choice);

#define UNITS_TEXT 40

/* Writes @size to @text, an array of UNITS_TEXT bytes; returns @text. */
char *units_format(uint64_t size, const struct units *units, char *text);

/* "1 chunk", "3 chunks": @noun with an s where there is not one of it. */
char *units_count(uint64_t number, const char *noun, char *text);

#endif
