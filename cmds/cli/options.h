/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options as rows: one row an option, read by the parser, the help and the
 * listing for completion.
 */
#ifndef CMDS_OPTIONS_H
#define CMDS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_END = 0,
	OPTION_FLAG,		/* bool: true */
	OPTION_VALUE,		/* int: @value */
	OPTION_COUNT,		/* int: one more, up to @value */
	OPTION_NUMBER,		/* uint64_t from 1 on */
	OPTION_TEXT,		/* const char *: the argument as it is */
	OPTION_CHOICE,		/* int: index in @choices */
	OPTION_UNIT,		/* struct units: @value is one of CHOOSE_... */
};

struct option_row {
	enum option_kind kind;
	char letter;
	const char *name;
	const char *alias;		/* a second long name */
	size_t offset;			/* of the member in the struct to fill */
	int value;
	const char *argument;		/* name of its argument for people */
	const char *const *choices;	/* up to NULL */
	const char *help;		/* NULL: works, but is not shown */
};

#define OPTIONS_END { .kind = OPTION_END }

#define OPTION_UNIT_ROW(place, letter_, name_, choice, help_)				\
	{ .kind = OPTION_UNIT, .letter = letter_, .name = name_, .offset = place,	\
	  .value = choice, .help = help_ }

/* The unit options of btrfs; @place is the offset of a struct units. */
#define OPTION_UNIT_ROWS(place)								\
	OPTION_UNIT_ROW(place, 'b', "raw", CHOOSE_RAW, "raw numbers in bytes"),		\
	OPTION_UNIT_ROW(place, 'h', "human-readable", CHOOSE_HUMAN_BINARY,		\
			"human friendly numbers, base 1024 (default)"),			\
	OPTION_UNIT_ROW(place, 'H', NULL, CHOOSE_HUMAN_DECIMAL,				\
			"human friendly numbers, base 1000"),				\
	OPTION_UNIT_ROW(place, 0, "iec", CHOOSE_BINARY,					\
			"use 1024 as a base (KiB, MiB, GiB, TiB)"),			\
	OPTION_UNIT_ROW(place, 0, "si", CHOOSE_DECIMAL,					\
			"use 1000 as a base (kB, MB, GB, TB)"),				\
	OPTION_UNIT_ROW(place, 'k', "kbytes", CHOOSE_KILO,				\
			"show sizes in KiB, or kB with --si"),				\
	OPTION_UNIT_ROW(place, 'm', "mbytes", CHOOSE_MEGA,				\
			"show sizes in MiB, or MB with --si"),				\
	OPTION_UNIT_ROW(place, 'g', "gbytes", CHOOSE_GIGA,				\
			"show sizes in GiB, or GB with --si"),				\
	OPTION_UNIT_ROW(place, 't', "tbytes", CHOOSE_TERA,				\
			"show sizes in TiB, or TB with --si")

/* Rows and the struct that they fill. */
struct option_set {
	const struct option_row *rows;	/* NULL: none */
	void *target;
};

/*
 * Fills the structs of @sets (up to one without rows and target) from the options
 * in @argv, whose first element is ignored.  Prints an error after @name and returns
 * the exit status: STATUS_GLOBAL for an unknown option or a missing argument,
 * STATUS_FAILURE for a bad value.  With @stop the first word that is no option ends the
 * options, else the words are moved behind them.  @first receives the index of the first word.
 */
int options_parse(const char *name, const struct option_set *sets, bool stop, int argc,
		  char **argv, int *first);

bool option_has_argument(const struct option_row *row);

#endif
