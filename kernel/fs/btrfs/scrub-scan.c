// SPDX-License-Identifier: GPL-2.0
/*
 * Which full stripes of a RAID56 block group a scan reads next, and for which devices.
 * Owns the counting only; the caller locks.  Also compiles in user space.
 */

#include <linux/minmax.h>
#include "scrub-raid56.h"

/*
 * Take full stripes from @first on, and return how many.  @taken are the members that
 * they are for, those furthest behind: each member gets all full stripes in order, and a
 * late one goes first.  The batch ends where it catches up with others, which join then.
 */
u32 btrfs_scrub_take_batch(struct scrub_member **members, struct scrub_member **taken,
			   int nr_members, u32 end, u32 *first)
{
	u32 stop;

	*first = end;
	for (int i = 0; i < nr_members; i++) {
		if (members[i])
			*first = min(*first, members[i]->next);
	}
	if (*first == end)
		return 0;

	stop = min(*first + BTRFS_SCRUB_BATCH, end);
	for (int i = 0; i < nr_members; i++) {
		if (members[i] && members[i]->next > *first)
			stop = min(stop, members[i]->next);
	}
	for (int i = 0; i < nr_members; i++) {
		taken[i] = members[i] && members[i]->next == *first ? members[i] : NULL;
		if (taken[i]) {
			taken[i]->next = stop;
			taken[i]->in_flight++;
		}
	}
	return stop - *first;
}
