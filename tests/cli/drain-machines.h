/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Made-up machines to drain: each device of most of them can hold everything.
 */
#ifndef DRAIN_MACHINES_H
#define DRAIN_MACHINES_H

#include <signal.h>
#include <string.h>

#include "tests/cli/recorded-machine.h"

static inline void make_drainable(struct fake *machine)
{
	fake_two_and_two(machine, FAKE_OURS, DISK_DATA_PREFERRED, DISK_DATA_PREFERRED);
}

/* A drain was interrupted. */
static inline void make_draining(struct fake *machine)
{
	make_drainable(machine);
	machine->devices[3].type = 5;
	strcpy(machine->drained, "4 = data-only\n");
}

/* Two small devices beside a large one that is in use. */
static inline void make_unequal(struct fake *machine)
{
	fake_init(machine, FAKE_OURS);
	for (int i = 0; i < 3; i++)
		fake_add_device(machine, i < 2 ? 2 * GiB : 100 * GiB, DISK_DATA_PREFERRED, true);
	fake_add_chunk(machine, BTRFS_BLOCK_GROUP_SYSTEM | BTRFS_BLOCK_GROUP_RAID1, 8 * MiB,
		       16384, 2, 1, 3);
	fake_add_chunk(machine, BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_RAID1, 256 * MiB,
		       100 * MiB, 2, 1, 3);
	fake_add_chunk(machine, BTRFS_BLOCK_GROUP_DATA, 10 * GiB, 9 * GiB, 1, 3);
}

static bool ends_drain(struct fake *machine, uint64_t logical)
{
	if (machine->balances == 2)
		raise(SIGINT);
	return false;
}

/* The user presses ^C while the second chunk is moved. */
static inline void make_interrupted_drain(struct fake *machine)
{
	make_drainable(machine);
	machine->refuses = ends_drain;
	signal(SIGINT, SIG_DFL);
}

static inline void make_busy_drain(struct fake *machine)
{
	make_drainable(machine);
	fake_set_file(machine, FAKE_FSID "/exclusive_operation", "device add");
	machine->busy_scans = 1000;
}

/* Is there a machine of that name? */
static inline bool make_drain(struct fake *machine, const char *name)
{
	static const struct {
		const char *name;
		void (*make)(struct fake *machine);
	} machines[] = {
		{ "draining", make_draining },
		{ "unequal", make_unequal },
		{ "interrupted-drain", make_interrupted_drain },
		{ "busy-drain", make_busy_drain },
	};

	for (size_t i = 0; i < BP_ARRAY_SIZE(machines); i++) {
		if (strcmp(machines[i].name, name))
			continue;
		machines[i].make(machine);
		return true;
	}
	return false;
}

#endif
