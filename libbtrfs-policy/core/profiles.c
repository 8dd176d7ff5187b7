/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of block group profiles, and the properties that follow from the type
 * flags of a chunk alone.
 */
#include "core/base.h"
#include "core/profiles.h"

#define ALL_PROFILES ((uint64_t)BTRFS_BLOCK_GROUP_PROFILE_MASK)
#define CONTENTS (BTRFS_BLOCK_GROUP_DATA | BTRFS_BLOCK_GROUP_METADATA)

static const struct bp_profile profiles[] = {
	/* flag, name, copies, parity, dev_stripes, devs_min, devs_max, devs_increment */
	{ 0, "single", 1, 0, 1, 1, 1, 1 },
	{ BTRFS_BLOCK_GROUP_DUP, "DUP", 2, 0, 2, 1, 1, 1 },
	{ BTRFS_BLOCK_GROUP_RAID0, "RAID0", 1, 0, 1, 1, 0, 1 },
	{ BTRFS_BLOCK_GROUP_RAID1, "RAID1", 2, 0, 1, 2, 2, 2 },
	{ BTRFS_BLOCK_GROUP_RAID1C3, "RAID1C3", 3, 0, 1, 3, 3, 3 },
	{ BTRFS_BLOCK_GROUP_RAID1C4, "RAID1C4", 4, 0, 1, 4, 4, 4 },
	{ BTRFS_BLOCK_GROUP_RAID10, "RAID10", 2, 0, 1, 2, 0, 2 },
	{ BTRFS_BLOCK_GROUP_RAID5, "RAID5", 1, 1, 1, 2, 0, 1 },
	{ BTRFS_BLOCK_GROUP_RAID6, "RAID6", 1, 2, 1, 3, 0, 1 },
};

const struct bp_profile *bp_profile_at(size_t index)
{
	return index < BP_ARRAY_SIZE(profiles) ? &profiles[index] : NULL;
}

/* NULL for a combination that no kernel writes. */
const struct bp_profile *bp_profile_of(uint64_t type)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(profiles); i++)
		if (profiles[i].flag == (type & ALL_PROFILES))
			return &profiles[i];
	return NULL;
}

enum btrfs_policy_kind bp_kind_of(uint64_t type)
{
	if ((type & CONTENTS) == CONTENTS)
		return BTRFS_POLICY_KIND_MIXED;
	if (type & BTRFS_BLOCK_GROUP_SYSTEM)
		return BTRFS_POLICY_KIND_SYSTEM;
	if (type & BTRFS_BLOCK_GROUP_METADATA)
		return BTRFS_POLICY_KIND_METADATA;
	return BTRFS_POLICY_KIND_DATA;
}

/* 0 if a chunk of the profile cannot have that many stripes. */
uint64_t bp_stripe_length(const struct bp_profile *profile, uint64_t length, uint32_t stripes)
{
	if (stripes <= profile->parity || (stripes - profile->parity) < profile->copies)
		return 0;
	return length / ((stripes - profile->parity) / profile->copies);
}

BP_PUBLIC const char *btrfs_policy_kind_name(enum btrfs_policy_kind kind)
{
	static const char *const names[] = {
		[BTRFS_POLICY_KIND_DATA] = "Data",
		[BTRFS_POLICY_KIND_METADATA] = "Metadata",
		[BTRFS_POLICY_KIND_SYSTEM] = "System",
		[BTRFS_POLICY_KIND_MIXED] = "Data+Metadata",
	};

	return (unsigned int)kind < BP_ARRAY_SIZE(names) ? names[kind] : "unknown";
}
