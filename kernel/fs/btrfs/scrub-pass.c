// SPDX-License-Identifier: GPL-2.0
/*
 * One pass of scrub over the full stripes ("rows") of a RAID56 block group for
 * several devices: which row is next, and for whom.  Owns the counting only;
 * reading, locking and waiting are the caller's.  Also compiles in user space.
 *
 * Each device is given all rows, in order.  Who joins late goes first, until it
 * is where the others are, and from there on they stay together.  One of the
 * devices leads, that is its task takes rows, reads them and gives them back.
 */

#include <linux/minmax.h>
#include "scrub-pass.h"

void btrfs_scrub_turns_init(struct btrfs_scrub_turns *turns,
			    int nr_members, u32 nr_rows)
{
	turns->nr_members = nr_members;
	turns->nr_rows = nr_rows;
	turns->leader = -1;
}

void btrfs_scrub_join(struct btrfs_scrub_turns *turns, int i)
{
	turns->member[i] = (struct btrfs_scrub_member) { .present = true };
	turns->nr_present++;
}

/* Take no more rows for this member.  The first error counts. */
void btrfs_scrub_quit(struct btrfs_scrub_turns *turns, int i, int error)
{
	turns->member[i].next = turns->nr_rows;
	if (error && !turns->member[i].error)
		turns->member[i].error = error;
}

bool btrfs_scrub_wants_rows(const struct btrfs_scrub_turns *turns, int i)
{
	return turns->member[i].present && turns->member[i].next < turns->nr_rows;
}

/* Is nothing more done for this member? */
bool btrfs_scrub_finished(const struct btrfs_scrub_turns *turns, int i)
{
	return !btrfs_scrub_wants_rows(turns, i) && !turns->member[i].in_flight;
}

bool btrfs_scrub_can_lead(const struct btrfs_scrub_turns *turns, int i)
{
	return turns->leader < 0 && btrfs_scrub_wants_rows(turns, i);
}

/* A member that is finished leaves.  Returns true if it was the last one. */
bool btrfs_scrub_leave(struct btrfs_scrub_turns *turns, int i)
{
	turns->member[i].present = false;
	return --turns->nr_present == 0;
}

/* The next row, unless the leader has had all.  @wanted: which members it is for. */
bool btrfs_scrub_take_row(struct btrfs_scrub_turns *turns, u32 *row,
			  bool *wanted)
{
	if (!btrfs_scrub_wants_rows(turns, turns->leader))
		return false;

	*row = turns->nr_rows;
	for (int i = 0; i < turns->nr_members; i++) {
		if (btrfs_scrub_wants_rows(turns, i))
			*row = min_t(u32, *row, turns->member[i].next);
	}
	for (int i = 0; i < turns->nr_members; i++) {
		struct btrfs_scrub_member *member = &turns->member[i];

		wanted[i] = member->present && member->next == *row;
		if (wanted[i]) {
			member->next++;
			member->in_flight++;
		}
	}
	return true;
}

/* Rows are given back in the order they were taken. */
void btrfs_scrub_give_back(struct btrfs_scrub_turns *turns, int i)
{
	turns->member[i].in_flight--;
}
