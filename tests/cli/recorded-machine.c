/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Made-up machines whose sysfs is a recording in tests/data/sysfs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cli/recorded-machine.h"

/* The machines that tests/data/sysfs was recorded on, with the results of ioctls. */
static const struct {
	const char *tree;
	enum fake_kernel kernel;
} recorded[] = {
	{ "stock", FAKE_STOCK },
	{ "device-role", FAKE_OURS },
	{ "allocation-hint", FAKE_HINT },
	{ "device-role-experimental", FAKE_OURS },
	{ "experimental-read-policy", FAKE_UPSTREAM },
};

/* Two disks that hold everything, and two SSDs that came later; the file system as on disk. */
static void make_grown(struct fake *machine, enum fake_kernel kernel)
{
	bool tagged = kernel == FAKE_HINT || kernel == FAKE_OURS;

	fake_init(machine, kernel);
	for (int i = 0; i < 4; i++)
		fake_add_device(machine, i < 2 ? 1000 * GiB : 100 * GiB,
				tagged && i > 1 ? DISK_METADATA_ONLY : DISK_DATA_PREFERRED, i < 2);
	fake_add_chunk(machine, BTRFS_BLOCK_GROUP_SYSTEM | BTRFS_BLOCK_GROUP_RAID1, 32 * MiB,
		       16384, 2, 1, 2);
	fake_add_chunk(machine, BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_RAID1, GiB,
		       700 * MiB, 2, 1, 2);
	fake_add_chunk(machine, BTRFS_BLOCK_GROUP_DATA | BTRFS_BLOCK_GROUP_RAID1, GiB, GiB, 2,
		       1, 2);
	strcpy(machine->saved, "# by hand\nreadahead = 8M\nread-policy = pid\n");
}

/* The roles of the devices have to match the recording. */
static bool same_roles(struct fake *machine)
{
	char name[96], ours[160], theirs[160];

	for (size_t i = 0; i < 2 * machine->device_count; i++) {
		snprintf(name, sizeof(name), FAKE_FSID "/devinfo/%zu/%s", i / 2 + 1,
			 i % 2 ? "role" : "type");
		if (fake_recorded_read(machine, name, theirs, sizeof(theirs)))
			continue;
		if (fake_sysfs_read(machine, name, ours, sizeof(ours)) || strcmp(ours, theirs))
			return false;
	}
	machine->calls = 0;
	return true;
}

int make_recorded(struct fake *machine, const char *tree)
{
	char path[4096];

	for (size_t i = 0; i < BP_ARRAY_SIZE(recorded); i++) {
		if (strcmp(recorded[i].tree, tree))
			continue;
		make_grown(machine, recorded[i].kernel);
		snprintf(path, sizeof(path), "%s/tests/data/sysfs/%s.txt", getenv("top_srcdir"),
			 tree);
		return fake_load_tree(machine, path) || !same_roles(machine) ? -EINVAL : 0;
	}
	return -ENOENT;
}
