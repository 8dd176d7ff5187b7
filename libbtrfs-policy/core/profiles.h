/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of block group profiles, and properties that follow from a chunk's type.
 */
#ifndef BP_PROFILES_H
#define BP_PROFILES_H

#include <stdint.h>

#include "btrfs-policy.h"
#include "core/kernel-abi.h"

struct bp_profile {
	uint64_t flag;
	const char *name;
	uint32_t copies;
	uint32_t parity;
	uint32_t dev_stripes;
	uint32_t devs_min;
	uint32_t devs_max; /* 0: as many as there are */
	uint32_t devs_increment;
};

const struct bp_profile *bp_profile_at(size_t index);
const struct bp_profile *bp_profile_of(uint64_t type);
enum btrfs_policy_kind bp_kind_of(uint64_t type);
uint64_t bp_stripe_length(const struct bp_profile *profile, uint64_t length, uint32_t stripes);

#endif
