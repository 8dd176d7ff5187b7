/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */

/*
 * Device roles: the decisions, as pure functions on plain values.
 *
 * They use no locks, no lists and no file system, so user space also compiles
 * device-role-core.c, to predict the choices of the allocator.
 * The licence allows that for a library under the LGPL.
 */

#ifndef BTRFS_DEVICE_ROLE_CORE_H
#define BTRFS_DEVICE_ROLE_CORE_H

#include <linux/types.h>
#include "volumes.h"

/* A role is either the two bits below in any combination, or one of those above. */
#define BTRFS_ROLE_PREFER_METADATA	0x01
#define BTRFS_ROLE_EXCLUDE_OTHER	0x02

/* The roles below this are those of two bits. */
#define BTRFS_ROLE_NR			4
/* A mark of another patch set, that is never set, and "no new chunks". */
#define BTRFS_ROLE_FOREIGN		4
#define BTRFS_ROLE_DRAINING		5
#define BTRFS_ROLE_ALL			6

/* The bits of btrfs_dev_item::type that hold the role, the rest is not ours. */
#define BTRFS_ROLE_DISK_MASK		0x07ULL

enum btrfs_role_kind {
	BTRFS_ROLE_KIND_DATA,
	/* System chunks count as metadata. */
	BTRFS_ROLE_KIND_METADATA,
	/* Data and metadata in one block group: roles do not apply. */
	BTRFS_ROLE_KIND_MIXED,
};

/* How welcome a chunk of some kind is on a device, best first. */
enum btrfs_role_rank {
	BTRFS_ROLE_RANK_FIRST,
	BTRFS_ROLE_RANK_SECOND,
	/* First choice, but free space is below the minimum of a useful chunk. */
	BTRFS_ROLE_RANK_BELOW_MIN,
	/* Only when no other device can serve. */
	BTRFS_ROLE_RANK_LAST,
	BTRFS_ROLE_RANK_EXCLUDED,
	BTRFS_ROLE_RANK_NR,
};

/* Properties of new chunks of a kind and a block group profile. */
struct btrfs_role_profile {
	enum btrfs_role_kind kind;
	/* The width follows the number of devices (RAID0, RAID10, RAID5/6). */
	bool striped;
	/* Devices: fewest, most (always set), and the step between, 1 or more. */
	u32 devs_min;
	u32 devs_max;
	u32 devs_increment;
	u32 dev_stripes;
	u32 ncopies;
	u32 nparity;
	/* Bytes, the chunk regardless of the size of the filesystem. */
	u64 max_stripe;
	u64 max_chunk;
	/* Bytes of the writeable devices, by rank. */
	u64 rank_bytes[BTRFS_ROLE_RANK_NR];
};

/* The devices of an existing chunk, in numbers. */
struct btrfs_role_chunk {
	u32 first;
	/* Allowed, but not the first choice. */
	u32 other;
	u32 excluded;
	/* First choice devices outside the chunk with space for a part of it. */
	u32 vacant;
};

const char *btrfs_role_name(u8 role);
int btrfs_role_parse(const char *buf, size_t len);
u8 btrfs_role_from_disk(u64 type);
u64 btrfs_role_to_disk(u64 type, u8 role);

enum btrfs_role_kind btrfs_role_kind(u64 bg_flags);
enum btrfs_role_rank btrfs_role_rank(u8 role, enum btrfs_role_kind kind);
u64 btrfs_role_system_space(u8 role, u64 size);

u64 btrfs_role_max_chunk(const struct btrfs_role_profile *profile, u8 rank);
u64 btrfs_role_useful_bytes(const struct btrfs_role_profile *profile);
u32 btrfs_role_select(struct btrfs_device_info *info, u32 nr,
		      struct btrfs_role_profile *profile);
u64 btrfs_role_available(const struct btrfs_avail_sums *ranks, u32 nr,
			 const struct btrfs_role_profile *profile);

u32 btrfs_role_misplaced(const struct btrfs_role_chunk *chunk,
			 const struct btrfs_role_profile *profile);
bool btrfs_role_pass_over(const struct btrfs_role_chunk *chunk,
			  const struct btrfs_role_profile *profile, u32 usable);

#endif
