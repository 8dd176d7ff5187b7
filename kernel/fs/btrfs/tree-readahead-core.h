/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which leaves a disk's head reads in one sweep, and which gaps between them it
 * reads as well.  Pure functions that also compile in user space.
 *
 * A disk orders what it is given by the way to the next, and so leaves out what
 * lies a little aside to come back for it.  Many short ways are longer than one
 * over all of it: what is close is read in one piece, with what lies between.
 */

#ifndef BTRFS_TREE_READAHEAD_CORE_H
#define BTRFS_TREE_READAHEAD_CORE_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <uapi/linux/btrfs_tree.h>
#else
#include "read-policy-shim.h"
#endif

struct leaf_place {
	u64 bytenr;
	u64 owner;
	u64 generation;
	int level;
#ifdef __KERNEL__
	struct btrfs_key first_key;
#endif
	/* Only if it lies on the way. */
	bool optional;
};

static inline int compare_leaf_places(const void *a, const void *b)
{
	const struct leaf_place *pa = a;
	const struct leaf_place *pb = b;

	if (pa->bytenr == pb->bytenr)
		return 0;
	return pa->bytenr < pb->bytenr ? -1 : 1;
}

/* What has to be read between two leaves to read both in one piece; 0 if it is too much. */
static inline u32 leaf_gap(const struct leaf_place *place, const struct leaf_place *next,
			   u32 nodesize, u32 max_gap)
{
	const u64 gap = next->bytenr - place->bytenr - nodesize;

	return gap <= max_gap ? gap : 0;
}

/* Keep one of those that are the same leaf, of @nr in order.  Returns how many are left. */
static inline unsigned int merge_leaf_places(struct leaf_place *places, unsigned int nr)
{
	unsigned int kept = 0;

	for (unsigned int n = 0; n < nr; n++) {
		if (kept && places[kept - 1].bytenr == places[n].bytenr)
			places[kept - 1].optional &= places[n].optional;
		else
			places[kept++] = places[n];
	}
	return kept;
}

/*
 * Drop what is optional and not between two leaves that are read in one piece.
 * Of @nr places, all different and in order.  Returns how many are left.
 */
static inline unsigned int drop_leaf_places(struct leaf_place *places, unsigned int nr,
					    u32 nodesize, u32 max_gap)
{
	/* Up to the last one that is wanted, and with what may lie behind it. */
	unsigned int wanted = 0;
	unsigned int kept = 0;

	for (unsigned int n = 0; n < nr; n++) {
		const struct leaf_place place = places[n];

		if (!place.optional && wanted &&
		    place.bytenr - places[wanted - 1].bytenr - nodesize > max_gap)
			kept = wanted;
		if (place.optional && !wanted)
			continue;
		places[kept++] = place;
		if (!place.optional)
			wanted = kept;
	}
	return wanted;
}

#endif
