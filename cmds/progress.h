/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Progress of a balance on stderr: rewritten in place on a terminal, a line now
 * and then if asked for, JSON lines for machines.
 */
#ifndef CMDS_PROGRESS_H
#define CMDS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "btrfs-policy.h"

/* Modes of --progress */
enum {
	PROGRESS_AUTO = 0,	/* only on a terminal */
	PROGRESS_LINE,
	PROGRESS_JSON,
	PROGRESS_NONE,
};

/* Their words, in the same order. */
extern const char *const progress_modes[];

struct progress {
	int mode;
	bool in_place;		/* the line on the terminal is not finished */
	uint64_t next_line_ns;	/* --progress line: not before this */
};

void progress_begin(struct progress *progress, int mode);
void progress_show(struct progress *progress, const struct btrfs_policy_progress *state);

/* Clears the line on the terminal. */
void progress_end(struct progress *progress);

#endif
