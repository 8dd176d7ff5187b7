/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included first by every unit test: cmocka and its dependencies, in order.
 */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"

#define RAID1 BTRFS_BLOCK_GROUP_RAID1
#define RAID1C3 BTRFS_BLOCK_GROUP_RAID1C3
#define RAID10 BTRFS_BLOCK_GROUP_RAID10
#define RAID0 BTRFS_BLOCK_GROUP_RAID0
#define DUP BTRFS_BLOCK_GROUP_DUP
#define DATA BTRFS_BLOCK_GROUP_DATA
#define METADATA BTRFS_BLOCK_GROUP_METADATA
#define SYSTEM BTRFS_BLOCK_GROUP_SYSTEM

/* Encodings on disk. */
enum { DISK_DATA, DISK_METADATA, DISK_METADATA_ONLY, DISK_DATA_ONLY, DISK_FOREIGN };

#define assert_has(text, part)							\
	do {									\
		if (!strstr(text, part))					\
			fail_msg("'%s' is not in '%s'", part, text);		\
	} while (0)

#endif
