// SPDX-License-Identifier: GPL-2.0
/*
 * A scan over the full stripes of a RAID56 block group that several devices share:
 * which full stripe is next, and for whom.  Owns the counting only; reading, locking
 * and waiting are the caller's.  Also compiles in user space.
 *
 * Each device is given all full stripes, in order.  One that joins late goes first,
 * until it is where the others are, and from there on they stay together.  One of the
 * devices leads: its task takes full stripes, reads them and gives them back.
 */

#include <linux/minmax.h>
#include "scrub-scan.h"

void btrfs_scrub_members_init(struct btrfs_scrub_members *members,
			      int nr_members, u32 nr_full_stripes)
{
	members->nr_members = nr_members;
	members->nr_full_stripes = nr_full_stripes;
	members->leader = -1;
}

void btrfs_scrub_join(struct btrfs_scrub_members *members, int i)
{
	members->member[i] = (struct btrfs_scrub_member) { .present = true };
	members->nr_present++;
}

/* Take no more full stripes for this member.  The first error counts. */
void btrfs_scrub_quit(struct btrfs_scrub_members *members, int i, int error)
{
	members->member[i].next = members->nr_full_stripes;
	if (error && !members->member[i].error)
		members->member[i].error = error;
}

bool btrfs_scrub_wants_more(const struct btrfs_scrub_members *members, int i)
{
	return members->member[i].present && members->member[i].next < members->nr_full_stripes;
}

/* Is nothing more done for this member? */
bool btrfs_scrub_finished(const struct btrfs_scrub_members *members, int i)
{
	return !btrfs_scrub_wants_more(members, i) && !members->member[i].in_flight;
}

bool btrfs_scrub_can_lead(const struct btrfs_scrub_members *members, int i)
{
	return members->leader < 0 && btrfs_scrub_wants_more(members, i);
}

/* A member that is finished leaves.  Returns true if it was the last one. */
bool btrfs_scrub_leave(struct btrfs_scrub_members *members, int i)
{
	members->member[i].present = false;
	return --members->nr_present == 0;
}

/* The next full stripe, unless the leader has had all.  @wanted: which members it is for. */
bool btrfs_scrub_take_next(struct btrfs_scrub_members *members, u32 *nr, bool *wanted)
{
	if (!btrfs_scrub_wants_more(members, members->leader))
		return false;

	*nr = members->nr_full_stripes;
	for (int i = 0; i < members->nr_members; i++) {
		if (btrfs_scrub_wants_more(members, i))
			*nr = min_t(u32, *nr, members->member[i].next);
	}
	for (int i = 0; i < members->nr_members; i++) {
		struct btrfs_scrub_member *member = &members->member[i];

		wanted[i] = member->present && member->next == *nr;
		if (wanted[i]) {
			member->next++;
			member->in_flight++;
		}
	}
	return true;
}

/* Full stripes are given back in the order they were taken. */
void btrfs_scrub_give_back(struct btrfs_scrub_members *members, int i)
{
	members->member[i].in_flight--;
}
