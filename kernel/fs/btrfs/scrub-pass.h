/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One pass of scrub over the full stripes ("rows") of a RAID56 block group for
 * several devices: which row is next, and for whom.  See scrub-pass.c.
 */

#ifndef BTRFS_SCRUB_PASS_H
#define BTRFS_SCRUB_PASS_H

#include <linux/types.h>

struct btrfs_scrub_member {
	/* The row it is to be given next, nr_rows if there is none. */
	u32 next;
	/* Rows that were taken for it and not given back. */
	u32 in_flight;
	int error;
	bool present;
};

struct btrfs_scrub_turns {
	u32 nr_rows;
	int nr_members;
	int nr_present;
	/* Which of the members leads, or -1. */
	int leader;
	struct btrfs_scrub_member member[];
};

void btrfs_scrub_turns_init(struct btrfs_scrub_turns *turns,
			    int nr_members, u32 nr_rows);
void btrfs_scrub_join(struct btrfs_scrub_turns *turns, int i);
void btrfs_scrub_quit(struct btrfs_scrub_turns *turns, int i, int error);
bool btrfs_scrub_wants_rows(const struct btrfs_scrub_turns *turns, int i);
bool btrfs_scrub_finished(const struct btrfs_scrub_turns *turns, int i);
bool btrfs_scrub_can_lead(const struct btrfs_scrub_turns *turns, int i);
bool btrfs_scrub_leave(struct btrfs_scrub_turns *turns, int i);
bool btrfs_scrub_take_row(struct btrfs_scrub_turns *turns, u32 *row,
			  bool *wanted);
void btrfs_scrub_give_back(struct btrfs_scrub_turns *turns, int i);

#endif
