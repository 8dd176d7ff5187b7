/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A scan over the full stripes of a RAID56 block group that several devices share:
 * which full stripe is next, and for whom.  See scrub-scan.c.
 */

#ifndef BTRFS_SCRUB_SCAN_H
#define BTRFS_SCRUB_SCAN_H

#include <linux/types.h>

struct btrfs_scrub_member {
	/* The full stripe it is to be given next, nr_full_stripes if there is none. */
	u32 next;
	/* Full stripes that were taken for it and not given back. */
	u32 in_flight;
	int error;
	bool present;
};

struct btrfs_scrub_members {
	u32 nr_full_stripes;
	int nr_members;
	int nr_present;
	/* Which of the members leads, or -1. */
	int leader;
	struct btrfs_scrub_member member[];
};

void btrfs_scrub_members_init(struct btrfs_scrub_members *members,
			      int nr_members, u32 nr_full_stripes);
void btrfs_scrub_join(struct btrfs_scrub_members *members, int i);
void btrfs_scrub_quit(struct btrfs_scrub_members *members, int i, int error);
bool btrfs_scrub_wants_more(const struct btrfs_scrub_members *members, int i);
bool btrfs_scrub_finished(const struct btrfs_scrub_members *members, int i);
bool btrfs_scrub_can_lead(const struct btrfs_scrub_members *members, int i);
bool btrfs_scrub_leave(struct btrfs_scrub_members *members, int i);
bool btrfs_scrub_take_next(struct btrfs_scrub_members *members, u32 *nr, bool *wanted);
void btrfs_scrub_give_back(struct btrfs_scrub_members *members, int i);

#endif
