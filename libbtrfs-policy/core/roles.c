/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the way between the library's roles and those of the header shared with
 * the kernel series, which has the names, the encoding on disk and the ranks.
 * Must not have a table of its own.
 */
#include <string.h>

#include "device-role-core.h"
#include "core/base.h"
#include "core/roles.h"

_Static_assert((int)BTRFS_POLICY_ROLE_METADATA_PREFERRED == BTRFS_ROLE_PREFER_METADATA, "bit 0");
_Static_assert((int)BTRFS_POLICY_ROLE_DATA_ONLY == BTRFS_ROLE_EXCLUDE_OTHER, "bit 1");
_Static_assert((int)BTRFS_POLICY_ROLE_FOREIGN == BTRFS_ROLE_FOREIGN, "the same number");

BP_PUBLIC const char *btrfs_policy_role_name(enum btrfs_policy_role role)
{
	if ((unsigned int)role > BTRFS_POLICY_ROLE_DRAINING || role == BTRFS_POLICY_ROLE_UNKNOWN)
		return "unknown";
	return btrfs_role_name(bp_role_core(role));
}

BP_PUBLIC int btrfs_policy_role_parse(const char *text, enum btrfs_policy_role *role)
{
	int parsed = strchr(text, '\n') ? -1 : btrfs_role_parse(text, strlen(text));

	if (parsed < 0)
		return -EINVAL;
	*role = parsed;
	return 0;
}

int bp_role_of_name(const char *name, enum btrfs_policy_role *role)
{
	for (*role = 0; *role <= BTRFS_POLICY_ROLE_DRAINING; (*role)++)
		if (*role != BTRFS_POLICY_ROLE_UNKNOWN && !strcmp(name, btrfs_policy_role_name(*role)))
			return 0;
	return -EINVAL;
}

enum btrfs_policy_role bp_role_from_disk(uint64_t type)
{
	unsigned int role = btrfs_role_from_disk(type);

	return role == BTRFS_ROLE_DRAINING ? BTRFS_POLICY_ROLE_DRAINING : role;
}

/* The type field with the role put into it, all other bits kept. */
uint64_t bp_role_to_disk(enum btrfs_policy_role role, uint64_t type)
{
	return btrfs_role_to_disk(type, bp_role_core(role));
}

/* Bits of the type field that are not the role's. */
uint64_t bp_role_other_bits(uint64_t type)
{
	return type & ~BTRFS_ROLE_DISK_MASK;
}

/* A role that could not be read counts as the default. */
unsigned int bp_role_core(enum btrfs_policy_role role)
{
	if (role == BTRFS_POLICY_ROLE_DRAINING)
		return BTRFS_ROLE_DRAINING;
	return role == BTRFS_POLICY_ROLE_UNKNOWN ? 0 : role;
}
