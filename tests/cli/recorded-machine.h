/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Made-up machines with a recorded sysfs, and what all made-up machines share.
 */
#ifndef RECORDED_MACHINE_H
#define RECORDED_MACHINE_H

#include "tests/unit/lib/fake.h"

/* Types of the device item as they are on disk. */
enum { DISK_DATA_PREFERRED, DISK_METADATA_PREFERRED, DISK_METADATA_ONLY, DISK_DATA_ONLY };

/* Returns 0, -ENOENT without such a recording, -EINVAL if it does not match the machine. */
int make_recorded(struct fake *machine, const char *tree);

#endif
