/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by tests that apply settings: a request from a table, carried out.
 */
#ifndef APPLY_RUN_H
#define APPLY_RUN_H

#include "unit.h"

struct wanted {
	const char *setting;
	uint64_t devid;
	const char *value;
};

static inline int apply(struct btrfs_policy_fs *fs, const struct wanted *wanted, size_t count,
			unsigned int flags, struct btrfs_policy_changes **changes)
{
	struct btrfs_policy_request *request = btrfs_policy_request_new();
	int ret;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(btrfs_policy_request_add(request, wanted[i].setting,
							  wanted[i].devid, wanted[i].value), 0);
	ret = btrfs_policy_apply(fs, request, flags, changes);
	btrfs_policy_request_free(request);
	if (ret)
		assert_string_not_equal(btrfs_policy_fs_error(fs), "");
	return ret;
}

#endif
