/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pictures of very many chunks on made-up devices, the same ones each time.
 */
#ifndef LARGE_ARRAY_H
#define LARGE_ARRAY_H

#include "balance/plan.h"

#define LARGE_DEVICES 40

struct large_array {
	const char *name;
	unsigned int ssds, disks;
	enum btrfs_policy_role ssd_role, disk_role;
	unsigned int copies;
	unsigned int metadata_each;	/* one chunk of so many is metadata */
	bool apart;			/* nothing but data on SSDs, no metadata there */
	uint64_t spare_gib;		/* unallocated on each device; 0: a third of all chunks */
};

/* SSDs come first. */
struct btrfs_policy_placement *large_array(const struct large_array *array, uint64_t chunks);

#endif
