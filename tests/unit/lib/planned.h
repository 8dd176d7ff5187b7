/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by tests of plans: the plan of the made-up machine, and its checks.
 */
#ifndef PLANNED_H
#define PLANNED_H

#include "unit.h"

static struct fake fake;

struct planned {
	struct btrfs_policy_fs *fs;
	struct btrfs_policy_placement *placement;
	struct btrfs_policy_plan *plan;
};

static inline void make_plan_by(struct planned *planned, uint64_t limit,
				enum btrfs_policy_method method)
{
	const struct btrfs_policy_balance_options options = {
		.size = sizeof(options), .limit = limit, .method = method,
	};

	planned->fs = fake_open(&fake);
	planned->placement = NULL;
	planned->plan = NULL;
	assert_int_equal(btrfs_policy_placement_read(planned->fs, &planned->placement), 0);
	assert_int_equal(btrfs_policy_plan_new(planned->fs, planned->placement, &options,
					       &planned->plan), 0);
}

static inline void make_plan(struct planned *planned, uint64_t limit)
{
	make_plan_by(planned, limit, BTRFS_POLICY_METHOD_AUTO);
}

static inline void free_plan(struct planned *planned)
{
	btrfs_policy_placement_free(planned->placement);
	btrfs_policy_plan_free(planned->plan);
	btrfs_policy_fs_unref(planned->fs);
}

static inline const struct btrfs_policy_plan_summary *summary(const struct planned *planned)
{
	return btrfs_policy_plan_summary(planned->plan);
}

/* A letter a step: data, metadata, system. */
static inline void assert_order(const struct planned *planned, const char *wanted)
{
	const struct btrfs_policy_step *step;
	char order[64] = "";

	for (size_t i = 0; (step = btrfs_policy_plan_step(planned->plan, i)); i++) {
		assert_true(i + 1 < sizeof(order));
		order[i] = "dms"[step->chunk->kind];
	}
	assert_string_equal(order, wanted);
}

#endif
