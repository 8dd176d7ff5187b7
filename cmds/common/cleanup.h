/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cleanup at the end of a scope, and allocation that cannot fail.
 * A command has nothing useful to do without memory, so it ends there; the
 * library never does.
 */
#ifndef CMDS_CLEANUP_H
#define CMDS_CLEANUP_H

#include <json-c/json.h>
#include <stddef.h>
#include <stdlib.h>

#include "btrfs-policy.h"

#define DEFINE_CLEANUP(name, type, end)				\
	static inline void cleanup_##name(type *object)		\
	{							\
		if (*object)					\
			end(*object);				\
	}							\
	struct dummy_##name

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

DEFINE_CLEANUP(fs, struct btrfs_policy_fs *, btrfs_policy_fs_unref);
DEFINE_CLEANUP(request, struct btrfs_policy_request *, btrfs_policy_request_free);
DEFINE_CLEANUP(changes, struct btrfs_policy_changes *, btrfs_policy_changes_free);
DEFINE_CLEANUP(additions, struct btrfs_policy_additions *, btrfs_policy_additions_free);
DEFINE_CLEANUP(placement, struct btrfs_policy_placement *, btrfs_policy_placement_free);
DEFINE_CLEANUP(plan, struct btrfs_policy_plan *, btrfs_policy_plan_free);
DEFINE_CLEANUP(suggestion, struct btrfs_policy_suggestion *, btrfs_policy_suggestion_free);
DEFINE_CLEANUP(report, struct btrfs_policy_balance_report *, btrfs_policy_balance_report_free);
DEFINE_CLEANUP(strv, char **, btrfs_policy_strv_free);
DEFINE_CLEANUP(json, json_object *, json_object_put);

#define _cleanup_(name) __attribute__((cleanup(cleanup_##name)))
#define _cleanup_free_ _cleanup_(free)

/* Ends the program if @pointer is NULL, else returns it. */
void *xcheck(void *pointer);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t count, size_t size);
char *xstrdup(const char *text);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
