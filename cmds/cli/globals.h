/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The global options, which every command of ours takes before and behind its
 * words.
 */
#ifndef CMDS_GLOBALS_H
#define CMDS_GLOBALS_H

#include <stdbool.h>

#include "cmds/cli/options.h"

enum { FORMAT_TEXT = 0, FORMAT_JSON = 1 };

struct globals {
	int format;
	int level;
	bool dry_run;
	bool help;
	/* Only before the words: */
	bool version;
	bool dump;	/* all that can be typed */
	bool complete;	/* the last word */
};

extern const struct option_row global_options[];

#endif
