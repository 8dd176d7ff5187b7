/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Made-up machines whose kernel moves stripes.
 */
#ifndef STRIPE_MACHINES_H
#define STRIPE_MACHINES_H

#include <string.h>

#include "tests/unit/lib/fake.h"

static inline void make_movable(struct fake *machine)
{
	fake_two_and_two(machine, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_can_move_stripes(machine);
}

/* A chunk with one copy at its place, an empty one, and one of another profile. */
static inline void make_various(struct fake *machine)
{
	make_movable(machine);
	fake_add_chunk(machine, BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_RAID1, GiB,
		       900 * MiB, 2, 1, 4);
	fake_add_chunk(machine, BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_RAID1, GiB, 0, 2, 3, 4);
	fake_add_chunk(machine, BTRFS_BLOCK_GROUP_METADATA, GiB, 50 * MiB, 1, 3);
}

/* The SSDs have less space than a chunk takes. */
static inline void make_tight(struct fake *machine)
{
	make_movable(machine);
	machine->devices[0].size = machine->devices[1].size = 2 * GiB + 900 * MiB;
}

/* Its kernel refuses all stripes of a chunk, for reason number `reason`. */
static inline void make_refusing(struct fake *machine, unsigned int reason)
{
	static const int errors[] = { -ENOMEM, -EOPNOTSUPP, -EBUSY, -ENOENT, -EROFS, -EEXIST, -ENOSPC,
		-ETXTBSY, -ENOSPC, -EIO, -EIO, -ECANCELED };

	make_movable(machine);
	machine->stripe_chunk = machine->chunks[1].logical;
	machine->stripe_reason = reason;
	machine->stripe_result = reason < BP_ARRAY_SIZE(errors) ? errors[reason] : -EPERM;
	machine->stripe_call = reason == BTRFS_MOVE_STRIPE_CANCELED;
}

/* "stripes", "stripes-various", "stripes-tight", "stripes-refused-3" */
static inline bool make_stripes(struct fake *machine, const char *name)
{
	if (strncmp(name, "stripes", 7))
		return false;
	if (!strcmp(name, "stripes"))
		make_movable(machine);
	else if (!strcmp(name, "stripes-various"))
		make_various(machine);
	else if (!strcmp(name, "stripes-tight"))
		make_tight(machine);
	else
		make_refusing(machine, strtoul(name + strlen("stripes-refused-"), NULL, 10));
	return true;
}

#endif
