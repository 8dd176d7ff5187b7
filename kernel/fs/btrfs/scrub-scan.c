// SPDX-License-Identifier: GPL-2.0
/*
 * Which full stripe of a RAID56 block group a scan reads next, and for which devices.
 * Owns the counting only; the caller locks.  Also compiles in user space.
 */

#include <linux/minmax.h>
#include "scrub-raid56.h"

/*
 * Take a full stripe and return its number, @end if all have been taken.  @taken are the
 * members that it is for, those furthest behind: each member gets all full stripes in
 * order, a late one goes first, and the others join it where it catches up.
 */
u32 btrfs_scrub_take_full_stripe(struct scrub_member **members, struct scrub_member **taken,
				 int nr_members, u32 end)
{
	u32 nr = end;

	for (int i = 0; i < nr_members; i++) {
		if (members[i])
			nr = min(nr, members[i]->next);
	}
	for (int i = 0; i < nr_members && nr < end; i++) {
		taken[i] = members[i] && members[i]->next == nr ? members[i] : NULL;
		if (taken[i]) {
			taken[i]->next++;
			taken[i]->in_flight++;
		}
	}
	return nr;
}
