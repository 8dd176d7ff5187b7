/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A role as the library names it, as disks hold it and as the kernel's core takes it.
 */
#ifndef BP_ROLES_H
#define BP_ROLES_H

#include <stdint.h>

#include "btrfs-policy.h"

/* Also of names that cannot be set; -EINVAL */
int bp_role_of_name(const char *name, enum btrfs_policy_role *role);
enum btrfs_policy_role bp_role_from_disk(uint64_t type);
uint64_t bp_role_to_disk(enum btrfs_policy_role role, uint64_t type);
uint64_t bp_role_other_bits(uint64_t type);
unsigned int bp_role_core(enum btrfs_policy_role role);

#endif
