/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Zoned file systems: a stripe is a zone, and superblocks take zones.  The numbers
 * follow from decide_stripe_size_zoned() and btrfs_find_allocatable_zones() of the kernel.
 */
#include "planned.h"

#define TiB (1024 * GiB)

/* The first chunk, on the last device, shows how long a zone is; usually it is 1 GiB. */
static void make_zoned(size_t count, uint64_t size, uint64_t disk_type, uint64_t zone)
{
	fake_init(&fake, FAKE_OURS);
	fake.zoned = true;
	for (size_t i = 0; i < count; i++)
		fake_add_device(&fake, size, disk_type, false)->end = 2 * zone;
	fake_add_chunk(&fake, SYSTEM, zone, 16384, 1, (int)count);
}

static void make_machine(size_t count, uint64_t size, uint64_t disk_type)
{
	make_zoned(count, size, disk_type, GiB);
}

struct capacity {
	uint64_t data, metadata;
};

static struct capacity capacity(const char *assume)
{
	struct btrfs_policy_remaining_capacity left;
	struct btrfs_policy_placement *placement = NULL;
	struct btrfs_policy_fs *fs = fake_open(&fake);

	assert_int_equal(btrfs_policy_placement_read(fs, &placement), 0);
	assert_int_equal(btrfs_policy_placement_assume(fs, placement, assume), 0);
	assert_int_equal(btrfs_policy_placement_capacity(fs, placement, &left), 0);
	btrfs_policy_placement_free(placement);
	btrfs_policy_fs_unref(fs);
	return (struct capacity){ left.data, left.metadata };
}

/* Of 12.5 zones two hold superblocks, half of one is behind the last, one is in use. */
static void whole_zones_count(void **state)
{
	make_machine(1, 12 * GiB + 512 * MiB, DISK_DATA);
	assert_int_equal(capacity("data=single,metadata=single").data, 9 * GiB);
	assert_int_equal(capacity("data=single,metadata=single").metadata, 9 * GiB);
	/* Two zones next to each other, from the third one on. */
	assert_int_equal(capacity("data=dup,metadata=dup").metadata, 4 * GiB);
	/* The new device has its superblocks, too. */
	assert_int_equal(capacity("data=single,metadata=single,add=4608M").data, 11 * GiB);
}

/* A chroot without /sys. */
static void zones_are_known_without_sysfs(void **state)
{
	make_machine(1, 12 * GiB + 512 * MiB, DISK_DATA);
	fake.no_sysfs = true;
	assert_int_equal(capacity("data=single,metadata=single").data, 9 * GiB);
}

/* The zones at 256 GiB, 512 GiB and 4 TiB hold superblocks: one, two and two. */
static void superblocks_take_zones(void **state)
{
	make_machine(1, 5 * TiB, DISK_DATA);
	assert_int_equal(capacity("data=single,metadata=single").data, 5 * TiB - 8 * GiB);
	make_machine(1, 512 * GiB + GiB, DISK_DATA);
	assert_int_equal(capacity("data=single,metadata=single").data, 508 * GiB);
	/* The second place is behind the last whole zone. */
	make_machine(1, 512 * GiB + 512 * MiB, DISK_DATA);
	assert_int_equal(capacity("data=single,metadata=single").data, 508 * GiB);
	/* The copy at 64 MiB of a device without zones has a small one of its own. */
	make_zoned(1, GiB, DISK_DATA, 16 * MiB);
	assert_int_equal(capacity("data=single,metadata=single").data, GiB - 4 * 16 * MiB);
}

/* The kernel prefers the device with more unallocated bytes, reserved ones among them. */
static void reserved_bytes_count_in_the_order(void **state)
{
	struct btrfs_policy_placement *placement = NULL;
	struct btrfs_policy_chunk chunk;
	struct btrfs_policy_fs *fs;
	uint64_t devids[4];

	make_machine(2, 258 * GiB, DISK_DATA);
	fake.devices[0].size = 256 * GiB + 512 * MiB;
	fs = fake_open(&fake);
	assert_int_equal(btrfs_policy_placement_read(fs, &placement), 0);
	assert_int_equal(placement->candidates[0].free_space, 254 * GiB);
	assert_int_equal(placement->candidates[1].free_space, 254 * GiB);
	assert_int_equal(bp_select(placement->candidates, 2, DATA, &chunk, devids, NULL), 0);
	assert_int_equal(devids[0], 2);
	btrfs_policy_placement_free(placement);
	btrfs_policy_fs_unref(fs);
}

/* A chunk has as many stripes as a tenth of the file system has zones, at least its fewest. */
static void striped_chunks_get_narrower(void **state)
{
	struct btrfs_policy_placement *placement = NULL;
	struct btrfs_policy_chunk chunk;
	struct btrfs_policy_fs *fs;
	uint64_t devids[8];

	make_machine(4, 8 * GiB, DISK_DATA);
	fs = fake_open(&fake);
	assert_int_equal(btrfs_policy_placement_read(fs, &placement), 0);
	assert_int_equal(bp_select(placement->candidates, 4, DATA | RAID0, &chunk, devids, NULL), 0);
	assert_int_equal(chunk.stripes, 3);
	assert_int_equal(chunk.length, 3 * GiB);
	assert_int_equal(chunk.stripe_length, GiB);
	assert_int_equal(bp_select(placement->candidates, 4, METADATA | RAID1, &chunk, devids, NULL), 0);
	assert_int_equal(chunk.length, GiB);
	assert_int_equal(bp_largest_chunk(placement->candidates, 4, METADATA), GiB);
	assert_int_equal(bp_worthwhile(placement->candidates, 4, METADATA | DUP), 2 * GiB);
	btrfs_policy_placement_free(placement);
	btrfs_policy_fs_unref(fs);
}

/* Metadata of 1600 MiB is to go to an SSD with so many zones for it. */
static void plan_with_zones(struct planned *planned, unsigned int zones)
{
	make_machine(2, 20 * GiB, DISK_DATA_ONLY);
	fake.devices[0].size = (2 + zones) * GiB + 900 * MiB;
	fake.devices[0].type = DISK_METADATA_ONLY;
	fake_add_chunk(&fake, METADATA, GiB, 800 * MiB, 1, 2);
	fake_add_chunk(&fake, METADATA, GiB, 800 * MiB, 1, 2);
	make_plan(planned, 0);
}

/* Two zones for metadata, one for the system chunk, one that has to be left over. */
static void a_plan_needs_zones(void **state)
{
	struct planned planned;

	plan_with_zones(&planned, 3);
	assert_non_null(btrfs_policy_plan_blocked(planned.plan));
	free_plan(&planned);
	plan_with_zones(&planned, 4);
	assert_null(btrfs_policy_plan_blocked(planned.plan));
	assert_order(&planned, "mms");
	assert_int_equal(btrfs_policy_plan_step(planned.plan, 0)->target_stripe_length, GiB);
	assert_int_equal(btrfs_policy_plan_device(planned.plan, 0)->unallocated_after,
			 3 * GiB + 900 * MiB);
	free_plan(&planned);
}

/* Three zones are left, of which two make a chunk. */
static void slack_is_whole_zones(void **state)
{
	struct planned planned;

	make_machine(1, 8 * GiB, DISK_DATA);
	fake_add_chunk(&fake, METADATA | DUP, GiB, 100 * MiB, 2, 1, 1);
	make_plan(&planned, 0);
	assert_int_equal(summary(&planned)->slack_before, GiB);
	free_plan(&planned);
}

/* Zones of the kernel are of 4 MiB to 8 GiB. */
static void a_zone_of_impossible_length(void **state)
{
	struct btrfs_policy_placement *placement = NULL;
	struct btrfs_policy_fs *fs;

	make_zoned(1, 20 * GiB, DISK_DATA, MiB);
	fs = fake_open(&fake);
	assert_int_equal(btrfs_policy_placement_read(fs, &placement), -EUCLEAN);
	assert_has(btrfs_policy_fs_error(fs), "zone");
	btrfs_policy_fs_unref(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_zones_count),
		cmocka_unit_test(zones_are_known_without_sysfs),
		cmocka_unit_test(superblocks_take_zones),
		cmocka_unit_test(reserved_bytes_count_in_the_order),
		cmocka_unit_test(striped_chunks_get_narrower),
		cmocka_unit_test(a_plan_needs_zones),
		cmocka_unit_test(slack_is_whole_zones),
		cmocka_unit_test(a_zone_of_impossible_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
