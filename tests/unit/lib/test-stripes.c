/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plans on a kernel that moves stripes: which stripe of a chunk goes where, and which
 * chunk is relocated for which reason.
 */
#include "allocator/array.h"
#include "planned.h"

#define RAID5 BTRFS_BLOCK_GROUP_RAID5
#define RAID6 BTRFS_BLOCK_GROUP_RAID6

/* SSDs for metadata, then as many hard disks for data. */
static void make_machine(unsigned int each, uint64_t ssd_type, uint64_t hdd_type)
{
	fake_init(&fake, FAKE_OURS);
	fake_can_move_stripes(&fake);
	for (unsigned int i = 0; i < each; i++)
		fake_add_device(&fake, 100 * GiB, ssd_type, false);
	for (unsigned int i = 0; i < each; i++)
		fake_add_device(&fake, 1000 * GiB, hdd_type, true);
}

static const struct btrfs_policy_step *step_at(const struct planned *planned, size_t index)
{
	const struct btrfs_policy_step *step = btrfs_policy_plan_step(planned->plan, index);

	assert_non_null(step);
	return step;
}

/* "1,2": the devices after the step. */
static void assert_targets(const struct btrfs_policy_step *step, const char *wanted)
{
	char text[128] = "";

	for (uint32_t i = 0; i < step->targets; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%llu", i ? "," : "",
			 (unsigned long long)step->target_devids[i]);
	assert_string_equal(text, wanted);
}

/* A plan of one step, by stripes. */
static void assert_moves(const char *wanted)
{
	struct planned planned;
	const struct btrfs_policy_step *step;

	make_plan(&planned, 0);
	assert_int_equal(summary(&planned)->steps, 1);
	assert_int_equal(summary(&planned)->by_stripes, 1);
	step = step_at(&planned, 0);
	assert_int_equal(step->obstacle, BTRFS_POLICY_BY_STRIPES);
	assert_int_equal(step->targets, step->chunk->stripes);
	assert_targets(step, wanted);
	free_plan(&planned);
}

/* A plan that relocates its first chunk. */
static void assert_relocates(enum btrfs_policy_obstacle why)
{
	struct planned planned;

	make_plan(&planned, 0);
	assert_int_equal(step_at(&planned, 0)->obstacle, why);
	assert_int_equal(summary(&planned)->by_stripes, 0);
	free_plan(&planned);
}

/* ---- Profiles ----------------------------------------------------------- */

static void one_copy_is_misplaced(void **state)
{
	make_machine(2, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, METADATA | RAID1, GiB, 700 * MiB, 2, 3, 1);
	assert_moves("2,1");
}

static void both_copies_are_misplaced(void **state)
{
	make_machine(2, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake.devices[1].size += GiB;
	fake_add_chunk(&fake, METADATA | RAID1, GiB, 700 * MiB, 2, 3, 4);
	/* The one with most unallocated space first. */
	assert_moves("2,1");
}

/* With one SSD one copy stays on a disk, and that is as good as it can be. */
static void a_second_choice_is_left(void **state)
{
	fake_init(&fake, FAKE_OURS);
	fake_can_move_stripes(&fake);
	fake_add_device(&fake, 100 * GiB, DISK_METADATA, false);
	fake_add_device(&fake, 1000 * GiB, DISK_DATA, true);
	fake_add_device(&fake, 1000 * GiB, DISK_DATA, true);
	fake_add_chunk(&fake, METADATA | RAID1, GiB, 700 * MiB, 2, 2, 3);
	assert_moves("1,3");
}

static void other_profiles(void **state)
{
	make_machine(4, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, METADATA | RAID1C3, GiB, 700 * MiB, 3, 5, 2, 6);
	assert_moves("1,2,3");
	make_machine(4, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, METADATA | RAID10, 2 * GiB, GiB, 4, 1, 5, 2, 6);
	assert_moves("1,3,2,4");
	make_machine(4, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, DATA | RAID5, 2 * GiB, GiB, 3, 1, 2, 5);
	assert_moves("6,7,5");
	make_machine(4, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, DATA | RAID6, 2 * GiB, GiB, 4, 8, 7, 6, 4);
	assert_moves("8,7,6,5");
	make_machine(4, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, DATA | RAID0, 3 * GiB, GiB, 3, 1, 6, 7);
	assert_moves("5,6,7");
	make_machine(1, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, METADATA, GiB, 700 * MiB, 1, 2);
	assert_moves("1");
}

static void both_stripes_of_dup_go_to_one_device(void **state)
{
	make_machine(2, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	/* With one stripe there the other device would have most unallocated space. */
	fake.devices[1].size += MiB;
	fake_add_chunk(&fake, METADATA | DUP, GiB, 700 * MiB, 2, 3, 3);
	fake_add_chunk(&fake, DATA, GiB, 700 * MiB, 1, 3);
	assert_moves("2,2");
	/* A run that ended between them has left one. */
	fake.chunks[0].devids[0] = 1;
	assert_moves("1,1");
}

static void system_chunks(void **state)
{
	make_machine(2, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, SYSTEM | RAID1, 32 * MiB, 16384, 2, 3, 4);
	assert_moves("1,2");
}

/* Nothing of first choice has space for it: a second choice takes what is on an excluded one. */
static void it_must_leave(void **state)
{
	make_machine(2, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake.devices[3].type = DISK_DATA;
	fake.devices[1].size = 200 * MiB;
	fake_add_chunk(&fake, METADATA | RAID1, GiB, 700 * MiB, 2, 3, 1);
	assert_moves("4,1");
	/* Not if a first choice comes later. */
	make_machine(1, DISK_DATA, DISK_DATA_ONLY);
	fake_add_device(&fake, 100 * GiB, DISK_METADATA_ONLY, false);
	fake_add_chunk(&fake, METADATA, GiB, 700 * MiB, 1, 2);
	assert_moves("3");
}

/* ---- Relocation --------------------------------------------------------- */

static void no_hole(void **state)
{
	make_machine(2, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	/* 8 GiB free in pieces of 960 MiB. */
	fake.devices[0].size = fake.devices[1].size = 16 * GiB;
	for (int i = 0; i < 8; i++) {
		fake_add_chunk(&fake, METADATA | RAID1, 960 * MiB, 950 * MiB, 2, 1, 2);
		fake_add_chunk(&fake, METADATA | RAID1, GiB, 1000 * MiB, 2, 1, 2);
	}
	for (int i = 0; i < 8; i++)
		fake_remove_chunk(&fake, i);
	fake_add_chunk(&fake, METADATA | RAID1, GiB, 700 * MiB, 2, 3, 4);
	fake.devices[0].size = fake.devices[1].size = fake.devices[0].end + 100 * MiB;
	assert_relocates(BTRFS_POLICY_NO_HOLE);
}

/* As for new chunks: space on a device for metadata is kept for system chunks. */
static void space_for_system_chunks_is_kept(void **state)
{
	struct planned planned;

	make_machine(1, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, METADATA, 32 * MiB, MiB, 1, 2);
	for (int lacks = 1; lacks >= 0; lacks--) {
		fake.devices[0].size = lacks ? 35 * MiB : 90 * MiB;
		make_plan_by(&planned, 0, BTRFS_POLICY_METHOD_STRIPES);
		if (lacks)
			assert_has(btrfs_policy_plan_blocked(planned.plan), "has a free extent of 32 MiB");
		else
			assert_int_equal(summary(&planned)->by_stripes, 1);
		free_plan(&planned);
	}
}

/* A stripe cannot be where the superblock is. */
static void superblocks_are_left_out(void **state)
{
	struct bp_candidate device = { .devid = 1, .writeable = true, .size = 600 * MiB };
	struct bp_candidate *array = bp_array_new(&device, 1);

	assert_non_null(array);
	assert_int_equal(bp_array_place_stripe(array, 63 * MiB), MiB);
	assert_int_equal(bp_array_place_stripe(array, 64 * MiB), 64 * MiB + 65536);
	assert_true(bp_array_place_stripe(array, 536 * MiB) == UINT64_MAX);
	assert_int_equal(bp_array_place_stripe(array, 536 * MiB - 65536), 64 * MiB + 65536);
	bp_array_free(array, 1);
	device.size = 300 * GiB;
	array = bp_array_new(&device, 1);
	assert_non_null(array);
	assert_int_equal(bp_holes_take(array->holes, MiB, 256 * GiB - 2 * MiB), 0);
	assert_int_equal(bp_array_place_stripe(array, GiB), 256 * GiB + 65536);
	assert_int_equal(bp_holes_take(array->holes, 256 * GiB, 100 * MiB), 0);
	assert_int_equal(bp_array_place_stripe(array, MiB), 256 * GiB - MiB);
	assert_int_equal(bp_array_place_stripe(array, GiB), 256 * GiB + 100 * MiB);
	bp_array_free(array, 1);
}

static void the_number_of_stripes_changes(void **state)
{
	make_machine(2, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_device(&fake, 1000 * GiB, DISK_DATA_ONLY, true);
	/* It is no device that lacks a hole. */
	fake_add_device(&fake, 100 * GiB, DISK_METADATA_ONLY, false)->missing = true;
	fake_add_chunk(&fake, METADATA | RAID0, 3 * GiB, GiB, 3, 3, 4, 5);
	assert_relocates(BTRFS_POLICY_NO_DEVICE);
}

static void a_device_is_gone(void **state)
{
	make_machine(2, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake.devices[2].missing = true;
	fake_add_chunk(&fake, METADATA | RAID1, GiB, 700 * MiB, 2, 3, 1);
	assert_relocates(BTRFS_POLICY_DEVICE_GONE);
	/* No target. */
	make_machine(3, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake.devices[1].missing = true;
	fake_add_chunk(&fake, METADATA | RAID1, GiB, 700 * MiB, 2, 4, 1);
	assert_moves("3,1");
}

static void empty_and_other_profiles(void **state)
{
	make_machine(2, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, METADATA | RAID1, GiB, 0, 2, 3, 4);
	assert_relocates(BTRFS_POLICY_EMPTY);
	make_machine(2, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, METADATA, GiB, 700 * MiB, 1, 3);
	fake_add_chunk(&fake, METADATA | RAID1, GiB, 700 * MiB, 2, 1, 2);
	assert_relocates(BTRFS_POLICY_OTHER_PROFILE);
}

static void no_such_kernel(void **state)
{
	struct planned planned;

	make_machine(2, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, METADATA | RAID1, GiB, 700 * MiB, 2, 3, 4);
	make_plan_by(&planned, 0, BTRFS_POLICY_METHOD_RELOCATE);
	assert_int_equal(step_at(&planned, 0)->obstacle, BTRFS_POLICY_NOT_WANTED);
	free_plan(&planned);
	fake.zoned = true;
	assert_relocates(BTRFS_POLICY_NO_FORMAT);
	fake.zoned = false;
	fake_two_and_two(&fake, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	assert_relocates(BTRFS_POLICY_NO_KERNEL);
}

/* Four fit as they are; then the rest has to go into their free space. */
static void a_small_ssd_takes_the_rest_by_relocation(void **state)
{
	struct planned planned;
	uint64_t relocated = 0;

	make_machine(1, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake.devices[0].size = 6 * GiB;
	for (int i = 1; i <= 10; i++)
		fake_add_chunk(&fake, METADATA, GiB, 10 * i * MiB, 1, 2);
	make_plan(&planned, 0);
	assert_int_equal(summary(&planned)->steps, 10);
	assert_in_range(summary(&planned)->by_stripes, 2, 5);
	/* By stripes the most used, by relocation the least used first. */
	assert_int_equal(step_at(&planned, 0)->chunk->used, 100 * MiB);
	for (size_t i = 1; i < 10; i++) {
		const struct btrfs_policy_step *step = step_at(&planned, i);

		if (step->obstacle && !relocated++)
			assert_int_equal(step->chunk->used, 10 * MiB);
		if (step->obstacle)
			assert_in_range(step->obstacle, BTRFS_POLICY_NO_HOLE, BTRFS_POLICY_TOO_TIGHT);
	}
	assert_int_equal(relocated + summary(&planned)->by_stripes, 10);
	free_plan(&planned);
}

/* ---- The plan as a whole ------------------------------------------------ */

static void space_and_order(void **state)
{
	const struct btrfs_policy_plan_device *device;
	const struct btrfs_policy_step *step;
	struct planned planned;

	fake_two_and_two(&fake, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_can_move_stripes(&fake);
	make_plan(&planned, 0);
	assert_order(&planned, "mmsd");
	assert_int_equal(summary(&planned)->by_stripes, 4);
	step = step_at(&planned, 0);
	assert_int_equal(step->chunk->used, 700 * MiB);
	assert_int_equal(step->space_count, 4);
	assert_int_equal(step->spaces[0].before, 99 * GiB);
	assert_int_equal(step->spaces[0].least, 98 * GiB);
	assert_int_equal(step->spaces[0].after, 98 * GiB);
	assert_int_equal(step->spaces[2].least, step->spaces[2].before);
	assert_int_equal(step->spaces[2].after, step->spaces[2].before + GiB);
	device = btrfs_policy_plan_device(planned.plan, 0);
	assert_int_equal(device->bytes_after[BTRFS_POLICY_KIND_METADATA], 2 * GiB);
	assert_int_equal(device->bytes_after[BTRFS_POLICY_KIND_DATA], 0);
	assert_int_equal(device->unallocated_after, 98 * GiB - 32 * MiB);
	assert_true(summary(&planned)->slack_after >= summary(&planned)->slack_floor);
	free_plan(&planned);
}

/* Each moved copy is written once, at the media rate. */
static void estimate(void **state)
{
	struct planned planned;
	uint64_t most;

	make_machine(2, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake_add_chunk(&fake, METADATA | RAID1, GiB, 1000 * MiB, 2, 3, 4);
	make_plan(&planned, 0);
	assert_int_equal(summary(&planned)->least_seconds, 8);
	most = summary(&planned)->most_seconds;
	free_plan(&planned);
	fake.chunks[0].devids[0] = 1;
	make_plan(&planned, 0);
	assert_int_equal(summary(&planned)->least_seconds, 4);
	assert_int_equal(summary(&planned)->most_seconds, most / 2);
	free_plan(&planned);
	fake.chunks[0].devids[0] = 3;
	make_plan_by(&planned, 0, BTRFS_POLICY_METHOD_RELOCATE);
	assert_int_equal(summary(&planned)->most_seconds, 1002);
	free_plan(&planned);
}

static void stripes_or_nothing(void **state)
{
	const struct btrfs_policy_balance_options options = {
		.size = sizeof(options), .method = BTRFS_POLICY_METHOD_STRIPES,
	};
	struct planned planned;

	the_number_of_stripes_changes(NULL);
	make_plan_by(&planned, 0, BTRFS_POLICY_METHOD_STRIPES);
	assert_int_equal(summary(&planned)->steps, 0);
	assert_has(btrfs_policy_plan_blocked(planned.plan),
		   "cannot be moved by its stripes: there is no better device for each misplaced stripe");
	free_plan(&planned);
	no_hole(NULL);
	make_plan_by(&planned, 0, BTRFS_POLICY_METHOD_STRIPES);
	assert_has(btrfs_policy_plan_blocked(planned.plan), "has a free extent of 1024 MiB");
	assert_int_equal(summary(&planned)->short_bytes, GiB);
	btrfs_policy_plan_free(bp_steal(planned.plan));
	fake_file(&fake, "features/move_stripe")->name[0] = '\0';
	assert_int_equal(btrfs_policy_fs_refresh(planned.fs), 0);
	assert_int_equal(btrfs_policy_plan_new(planned.fs, planned.placement, &options,
					       &planned.plan), -EOPNOTSUPP);
	assert_has(btrfs_policy_fs_error(planned.fs), "features/move_stripe");
	fake_can_move_stripes(&fake);
	fake.zoned = true;
	assert_int_equal(btrfs_policy_fs_refresh(planned.fs), 0);
	assert_int_equal(btrfs_policy_plan_new(planned.fs, planned.placement, &options,
					       &planned.plan), -EOPNOTSUPP);
	assert_has(btrfs_policy_fs_error(planned.fs), "raid-stripe-tree");
	free_plan(&planned);
	empty_and_other_profiles(NULL);
	make_plan_by(&planned, 0, BTRFS_POLICY_METHOD_STRIPES);
	assert_int_equal(summary(&planned)->by_stripes, 1);
	free_plan(&planned);
}

static void names(void **state)
{
	assert_null(btrfs_policy_obstacle_name(BTRFS_POLICY_BY_STRIPES));
	for (int i = BTRFS_POLICY_NOT_WANTED; i <= BTRFS_POLICY_REFUSED; i++)
		assert_non_null(btrfs_policy_obstacle_name(i));
	assert_null(btrfs_policy_obstacle_name(BTRFS_POLICY_REFUSED + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_copy_is_misplaced),
		cmocka_unit_test(both_copies_are_misplaced),
		cmocka_unit_test(a_second_choice_is_left),
		cmocka_unit_test(other_profiles),
		cmocka_unit_test(both_stripes_of_dup_go_to_one_device),
		cmocka_unit_test(system_chunks),
		cmocka_unit_test(it_must_leave),
		cmocka_unit_test(no_hole),
		cmocka_unit_test(space_for_system_chunks_is_kept),
		cmocka_unit_test(superblocks_are_left_out),
		cmocka_unit_test(the_number_of_stripes_changes),
		cmocka_unit_test(a_device_is_gone),
		cmocka_unit_test(empty_and_other_profiles),
		cmocka_unit_test(no_such_kernel),
		cmocka_unit_test(a_small_ssd_takes_the_rest_by_relocation),
		cmocka_unit_test(space_and_order),
		cmocka_unit_test(estimate),
		cmocka_unit_test(stripes_or_nothing),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
