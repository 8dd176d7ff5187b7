/* SPDX-License-Identifier: GPL-2.0-only */
/* Mirrors and reads with nothing special about them, for tests of the read policy to change. */
#ifndef READ_POLICY_INPUTS_H
#define READ_POLICY_INPUTS_H

#include "read-policy-core.h"

static inline struct btrfs_rr_mirror mirror(bool rot)
{
	return (struct btrfs_rr_mirror){ .rot = rot, .scale = BTRFS_RR_SCALE_ONE, .samples = 100 };
}

static inline struct btrfs_rr_read request(u64 len)
{
	return (struct btrfs_rr_read){ .len = len, .region = 3 * SZ_1M, .readahead = 4 * SZ_1M,
				       .stick = -1 };
}

/* A read of flash that no other had to do with, but for those in flight before it. */
static inline void learn_flash(struct btrfs_rr_speed *speed, u64 latency_ns, u32 predicted_ns,
			       u64 ahead_ns, u64 pause_ns)
{
	btrfs_rr_learn_flash(speed, latency_ns, latency_ns, predicted_ns, ahead_ns, pause_ns);
}

#endif
