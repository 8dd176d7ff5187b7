/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plan on arrays made for one question each: order, space, the invariant,
 * limits.  Random arrays are in test-plan-random.c.
 */
#include "planned.h"

static void order_and_targets(void **state)
{
	static const enum btrfs_policy_kind kinds[] = {
		BTRFS_POLICY_KIND_METADATA, BTRFS_POLICY_KIND_METADATA,
		BTRFS_POLICY_KIND_SYSTEM, BTRFS_POLICY_KIND_DATA,
	};
	struct planned planned;
	const struct btrfs_policy_step *step;

	fake_two_and_two(&fake, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	make_plan(&planned, 0);
	btrfs_policy_placement_free(bp_steal(planned.placement));
	for (size_t i = 0; i < 4; i++) {
		step = btrfs_policy_plan_step(planned.plan, i);
		assert_int_equal(step->chunk->kind, kinds[i]);
		assert_int_equal(step->targets, 2);
		for (uint32_t j = 0; j < 2; j++)
			assert_int_equal(step->target_devids[j] > 2, i == 3);
	}
	assert_null(btrfs_policy_plan_step(planned.plan, 4));
	assert_true(btrfs_policy_plan_step(planned.plan, 0)->chunk->used == 100 * MiB);
	assert_int_equal(summary(&planned)->steps, 4);
	assert_int_equal(summary(&planned)->size, 3 * GiB + 32 * MiB);
	assert_int_equal(summary(&planned)->used, 1300 * MiB + 16384);
	assert_int_equal(summary(&planned)->blocked, 0);
	assert_null(btrfs_policy_plan_blocked(planned.plan));
	free_plan(&planned);
}

/* Both metadata chunks together hold 800 MiB: one new chunk is enough. */
static void steps_share_new_chunks(void **state)
{
	struct planned planned;
	const struct btrfs_policy_plan_device *device;

	fake_two_and_two(&fake, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	make_plan(&planned, 0);
	device = btrfs_policy_plan_device(planned.plan, 0);
	assert_int_equal(device->bytes_before[BTRFS_POLICY_KIND_METADATA], 0);
	assert_int_equal(device->bytes_after[BTRFS_POLICY_KIND_METADATA], GiB);
	assert_int_equal(device->bytes_after[BTRFS_POLICY_KIND_DATA], 0);
	assert_int_equal(device->unallocated_after, 100 * GiB - GiB - 32 * MiB);
	assert_null(btrfs_policy_plan_device(planned.plan, 4));
	free_plan(&planned);
}

/*
 * Metadata on the disks, the SSDs full of data, and no role excludes anything:
 * data has to go first, metadata follows.
 */
static void data_frees_space_for_metadata(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 4 * GiB + MiB, DISK_METADATA, false);
	fake_add_device(&fake, 4 * GiB + MiB, DISK_METADATA, false);
	fake_add_device(&fake, 100 * GiB, DISK_DATA, true);
	fake_add_device(&fake, 100 * GiB, DISK_DATA, true);
	for (int i = 0; i < 4; i++)
		fake_add_chunk(&fake, DATA | RAID1, GiB, 900 * MiB, 2, 1, 2);
	for (int i = 0; i < 3; i++)
		fake_add_chunk(&fake, METADATA | RAID1, GiB, 800 * MiB, 2, 3, 4);
	make_plan(&planned, 0);
	assert_int_equal(summary(&planned)->misplaced, 4);
	assert_int_equal(summary(&planned)->steps, 7);
	assert_int_equal(summary(&planned)->blocked, 0);
	assert_order(&planned, "dmdmdmd");
	free_plan(&planned);
}

static void blocked_without_space(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 10 * GiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, 2 * GiB + MiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, DATA, GiB, 700 * MiB, 1, 1);
	fake_add_chunk(&fake, DATA, 2 * GiB, 2 * GiB, 1, 2);
	make_plan(&planned, 0);
	assert_int_equal(summary(&planned)->steps, 0);
	assert_int_equal(summary(&planned)->blocked, 1);
	assert_int_equal(summary(&planned)->short_bytes, 700 * MiB);
	assert_has(btrfs_policy_plan_blocked(planned.plan), "devid 2 lacks 700 MiB");
	free_plan(&planned);
}

static void blocked_without_devices(void **state)
{
	struct planned planned;

	fake_two_and_two(&fake, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake.devices[3].type = DISK_METADATA_ONLY;
	make_plan(&planned, 0);
	assert_true(summary(&planned)->blocked > 0);
	assert_has(btrfs_policy_plan_blocked(planned.plan),
		   "RAID1 needs 2 devices that may hold it and there is 1");
	free_plan(&planned);
}

static void limit_is_kept(void **state)
{
	struct planned planned;

	fake_two_and_two(&fake, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	make_plan(&planned, 1);
	assert_int_equal(summary(&planned)->steps, 1);
	assert_int_equal(summary(&planned)->beyond_limit, 3);
	assert_int_equal(summary(&planned)->blocked, 0);
	assert_null(btrfs_policy_plan_blocked(planned.plan));
	free_plan(&planned);
}

static void an_empty_chunk_needs_no_space(void **state)
{
	struct planned planned;

	fake_two_and_two(&fake, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake.chunks[2].used = 0;
	fake.devices[0].size = fake.devices[1].size = 2 * GiB;
	make_plan(&planned, 0);
	assert_int_equal(btrfs_policy_plan_step(planned.plan, 0)->chunk->used, 0);
	assert_int_equal(btrfs_policy_plan_step(planned.plan, 0)->targets, 0);
	free_plan(&planned);
}

/* ---- State after a step ------------------------------------------------- */

static void space_around_a_step(void **state)
{
	const struct btrfs_policy_step_space *space;
	const struct btrfs_policy_step *step;
	struct planned planned;

	fake_two_and_two(&fake, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	make_plan(&planned, 0);
	step = btrfs_policy_plan_step(planned.plan, 0);
	assert_int_equal(step->space_count, 4);
	space = &step->spaces[0];
	assert_int_equal(space->devid, 1);
	assert_int_equal(space->before, 99 * GiB);
	assert_int_equal(space->least, 98 * GiB);
	assert_int_equal(space->after, 98 * GiB);
	space = &step->spaces[3];
	assert_int_equal(space->devid, 4);
	assert_int_equal(space->before, space->least);
	assert_int_equal(space->after, space->before + GiB);
	/* The second one shares the new chunk. */
	step = btrfs_policy_plan_step(planned.plan, 1);
	assert_int_equal(step->space_count, 2);
	assert_int_equal(step->spaces[0].devid, 3);
	free_plan(&planned);
}

/* 4 GiB of metadata fit on the SSD, but then not one more chunk would. */
static void the_last_space_is_not_taken(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 4 * GiB + 20 * MiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, 100 * GiB, DISK_DATA_ONLY, true);
	for (int i = 0; i < 4; i++)
		fake_add_chunk(&fake, METADATA, GiB, 1020 * MiB, 1, 2);
	make_plan(&planned, 0);
	assert_null(btrfs_policy_plan_step(planned.plan, 0));
	assert_int_equal(summary(&planned)->blocked, 4);
	assert_has(btrfs_policy_plan_blocked(planned.plan), "another chunk of Metadata");
	free_plan(&planned);
	fake.devices[0].size += GiB;
	make_plan(&planned, 0);
	assert_int_equal(summary(&planned)->steps, 4);
	free_plan(&planned);
}

/* All space that metadata can take counts. */
static void slack_is_kept(void **state)
{
	struct planned planned;

	fake_two_and_two(&fake, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	make_plan(&planned, 0);
	/* 1 GiB for a chunk and the 800 MiB that metadata uses, capped at 512, for the reserve. */
	assert_int_equal(summary(&planned)->slack_floor, GiB + 512 * MiB);
	assert_true(summary(&planned)->slack_before >= summary(&planned)->slack_floor);
	assert_true(summary(&planned)->slack_after >= summary(&planned)->slack_floor);
	free_plan(&planned);
	fake.devices[0].size = fake.devices[1].size = 2 * GiB + 300 * MiB;
	make_plan(&planned, 0);
	/* Too small for that: half of the space at the end, without the system chunk. */
	assert_in_range(summary(&planned)->slack_floor, summary(&planned)->slack_after / 2,
			summary(&planned)->slack_after / 2 + 16 * MiB);
	free_plan(&planned);
}

/* Holes of 600, 500 and 300 MiB cannot hold 1 GiB in one piece. */
static void holes_count(void **state)
{
	const struct btrfs_policy_step *step;
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 20 * GiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, MiB + 1550 * MiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, DATA, 600 * MiB, 0, 1, 2);
	fake_add_chunk(&fake, DATA, 100 * MiB, 100 * MiB, 1, 2);
	fake_add_chunk(&fake, DATA, 500 * MiB, 0, 1, 2);
	fake_add_chunk(&fake, DATA, 50 * MiB, 50 * MiB, 1, 2);
	fake_add_chunk(&fake, DATA, GiB, GiB, 1, 1);
	fake.chunks[0] = fake.chunks[1];
	fake.chunks[1] = fake.chunks[3];
	fake.chunks[2] = fake.chunks[4];
	fake.chunk_count = 3;
	/* Full, but it makes the array large enough for chunks of 1 GiB. */
	fake_add_device(&fake, MiB + 20 * GiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, DATA, 20 * GiB, 20 * GiB, 1, 3);
	make_plan(&planned, 0);
	assert_int_equal(summary(&planned)->steps, 1);
	step = btrfs_policy_plan_step(planned.plan, 0);
	/* Two chunks, the first one as long as the longer hole. */
	assert_int_equal(step->target_stripe_length, 600 * MiB);
	assert_int_equal(step->spaces[1].before - step->spaces[1].least, 1100 * MiB);
	assert_int_equal(btrfs_policy_plan_device(planned.plan, 1)->unallocated_after,
			 step->spaces[1].after);
	free_plan(&planned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_and_targets),
		cmocka_unit_test(steps_share_new_chunks),
		cmocka_unit_test(data_frees_space_for_metadata),
		cmocka_unit_test(blocked_without_space),
		cmocka_unit_test(blocked_without_devices),
		cmocka_unit_test(limit_is_kept),
		cmocka_unit_test(an_empty_chunk_needs_no_space),
		cmocka_unit_test(space_around_a_step),
		cmocka_unit_test(the_last_space_is_not_taken),
		cmocka_unit_test(slack_is_kept),
		cmocka_unit_test(holes_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
