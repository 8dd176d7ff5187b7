/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One choice of the planner each, on the smallest array on which it matters: the
 * order, second choices, the slack that is kept, and the error text.
 */
#include "planned.h"

static uint64_t target_of(const struct planned *planned, size_t step)
{
	const struct btrfs_policy_step *found = btrfs_policy_plan_step(planned->plan, step);

	assert_non_null(found);
	return found->targets ? found->target_devids[0] : 0;
}

/* ---- Order -------------------------------------------------------------- */

/* On different disks, the fuller one first. */
static void the_least_used_goes_first(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 20 * GiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, 20 * GiB, DISK_DATA_ONLY, true);
	fake_add_device(&fake, 20 * GiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, METADATA, GiB, 300 * MiB, 1, 2);
	fake_add_chunk(&fake, METADATA, GiB, 100 * MiB, 1, 3);
	fake_add_chunk(&fake, METADATA, GiB, 200 * MiB, 1, 2);
	make_plan(&planned, 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(btrfs_policy_plan_step(planned.plan, i)->chunk->used,
				 (i + 1) * 100 * MiB);
	free_plan(&planned);
}

/* There is space for system at once, for metadata only after data has moved. */
static void data_in_the_way_goes_before_system(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 2 * GiB + 20 * MiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, 20 * GiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, DATA, 2 * GiB, GiB, 1, 1);
	fake_add_chunk(&fake, METADATA, GiB, 300 * MiB, 1, 2);
	fake_add_chunk(&fake, SYSTEM, 8 * MiB, 16384, 1, 2);
	make_plan(&planned, 0);
	assert_order(&planned, "dms");
	free_plan(&planned);
}

/*
 * Metadata could leave the disk that excludes it at once, for a second choice.  It
 * waits until data has left the SSD.
 */
static void metadata_waits_for_the_best_place(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 2 * GiB + 10 * MiB, DISK_METADATA, false);
	fake_add_device(&fake, 20 * GiB, DISK_DATA, true);
	fake_add_device(&fake, 20 * GiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, DATA, 2 * GiB, 1900 * MiB, 1, 1);
	fake_add_chunk(&fake, METADATA, GiB, 200 * MiB, 1, 3);
	make_plan(&planned, 0);
	assert_order(&planned, "dm");
	assert_int_equal(target_of(&planned, 1), 1);
	free_plan(&planned);
}

/* ---- Less than the best -------------------------------------------------- */

/* Metadata stays on the SSD; a disk that excludes it has too many chunks for every order. */
static void full_ssd(unsigned int chunks)
{
	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 2 * GiB + MiB, DISK_METADATA, false);
	fake_add_device(&fake, 20 * GiB, DISK_DATA, true);
	fake_add_device(&fake, 20 * GiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, METADATA, 2 * GiB, 2 * GiB, 1, 1);
	for (unsigned int i = 0; i < chunks; i++)
		fake_add_chunk(&fake, METADATA, GiB, 20 * MiB, 1, 3);
}

/* 256 MiB is a chunk on so small an array: the first step makes one, the others share it. */
static void a_second_choice_is_shared(void **state)
{
	struct planned planned;

	full_ssd(9);
	make_plan(&planned, 0);
	assert_order(&planned, "mmmmmmmmm");
	assert_int_equal(target_of(&planned, 0), 2);
	assert_int_equal(btrfs_policy_plan_device(planned.plan, 1)->bytes_after[1], 256 * MiB);
	free_plan(&planned);
}

/*
 * One SSD is full, each chunk has its second copy on a disk, and another SSD was added.
 * The first chunk makes room: it goes to the new SSD and a disk, the others to both SSDs.
 */
static void one_makes_room_on_a_full_ssd(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 8 * GiB + 20 * MiB, DISK_METADATA, false);
	fake_add_device(&fake, 20 * GiB, DISK_DATA, true);
	fake_add_device(&fake, 20 * GiB, DISK_METADATA, false);
	for (unsigned int i = 0; i < 8; i++)
		fake_add_chunk(&fake, METADATA | RAID1, GiB, 1000 * MiB, 2, 1, 2);
	make_plan(&planned, 0);
	assert_null(btrfs_policy_plan_blocked(planned.plan));
	assert_order(&planned, "mmmmmmmm");
	assert_int_equal(summary(&planned)->misplaced, 8);
	free_plan(&planned);
}

/* The disk that gets the copy is as bad as the other, and nothing gets a better place. */
static void room_for_nothing_is_not_made(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, GiB + 20 * MiB, DISK_METADATA, false);
	fake_add_device(&fake, 20 * GiB, DISK_DATA, true);
	fake_add_device(&fake, 20 * GiB, DISK_DATA, true);
	fake_add_device(&fake, GiB + 20 * MiB, DISK_METADATA, false);
	fake_add_chunk(&fake, METADATA | RAID1, GiB, 900 * MiB, 2, 1, 2);
	make_plan(&planned, 0);
	assert_non_null(btrfs_policy_plan_blocked(planned.plan));
	assert_order(&planned, "");
	free_plan(&planned);
}

/*
 * The SSD is all but full, so a new system chunk would go to the disks that the old one
 * is on: it is placed correctly, and does not keep metadata from leaving the third disk.
 */
static void an_ssd_all_but_full_is_no_better_place(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 2 * GiB + 16 * MiB, DISK_METADATA, false);
	fake_add_device(&fake, 20 * GiB, DISK_DATA, true);
	fake_add_device(&fake, 20 * GiB, DISK_DATA, true);
	fake_add_device(&fake, 20 * GiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, METADATA, 2 * GiB, GiB, 1, 1);
	fake_add_chunk(&fake, METADATA, GiB, 20 * MiB, 1, 4);
	fake_add_chunk(&fake, SYSTEM | RAID1, 8 * MiB, 16384, 2, 2, 3);
	make_plan(&planned, 0);
	assert_null(btrfs_policy_plan_blocked(planned.plan));
	assert_int_equal(summary(&planned)->misplaced, 1);
	assert_order(&planned, "m");
	free_plan(&planned);
}

/* They are placed as well as possible, though not on first choices. */
static void best_possible_placement_is_no_reason(void **state)
{
	struct planned planned;

	full_ssd(0);
	for (unsigned int i = 0; i < 9; i++)
		fake_add_chunk(&fake, METADATA, GiB, 20 * MiB, 1, 2);
	make_plan(&planned, 0);
	assert_int_equal(summary(&planned)->misplaced, 0);
	assert_order(&planned, "");
	assert_null(btrfs_policy_plan_blocked(planned.plan));
	free_plan(&planned);
}

/*
 * Two chunks are on the disk that excludes them, in the way of data on the SSD.  The
 * first one settles for the other disk; then data goes, and the second one does
 * not follow the first but goes to the SSD.
 */
static void nothing_joins_a_second_choice_without_need(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 2 * GiB + 10 * MiB, DISK_METADATA, false);
	fake_add_device(&fake, 700 * MiB, DISK_DATA, true);
	fake_add_device(&fake, 4 * GiB + MiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, DATA, 2 * GiB, 1900 * MiB, 1, 1);
	fake_add_chunk(&fake, METADATA, 2 * GiB, 20 * MiB, 1, 3);
	fake_add_chunk(&fake, METADATA, 2 * GiB, 30 * MiB, 1, 3);
	make_plan(&planned, 0);
	assert_order(&planned, "mdm");
	assert_int_equal(target_of(&planned, 0), 2);
	assert_int_equal(target_of(&planned, 2), 1);
	free_plan(&planned);
}

/*
 * The free extents of the SSD are too small for a chunk: the kernel would take the
 * disk again, which is no better.
 */
static void no_better_place_is_none(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, MiB + 640 * MiB, DISK_METADATA, false);
	fake_add_device(&fake, 20 * GiB, DISK_DATA, true);
	for (int i = 0; i < 16; i++)
		fake_add_chunk(&fake, METADATA, i % 2 ? 30 * MiB : 50 * MiB, 30 * MiB, 1, 1);
	for (size_t i = 0; i < 8; i++)
		fake_remove_chunk(&fake, i);
	fake_add_chunk(&fake, METADATA, 256 * MiB, 256 * MiB, 1, 2);
	make_plan(&planned, 0);
	assert_int_equal(summary(&planned)->misplaced, 1);
	assert_order(&planned, "");
	assert_non_null(btrfs_policy_plan_blocked(planned.plan));
	assert_int_equal(summary(&planned)->slack_after, summary(&planned)->slack_before);
	free_plan(&planned);
}

/* ---- Free space --------------------------------------------------------- */

/* The only device that can be written to has a chunk with two copies and free space. */
static void one_copy_goes_into_a_chunk_of_two(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 20 * GiB, DISK_DATA_ONLY, true);
	fake_add_device(&fake, 20 * GiB, DISK_METADATA_ONLY, false)->missing = true;
	fake_add_device(&fake, 20 * GiB, DISK_DATA_ONLY, true)->missing = true;
	fake_add_chunk(&fake, DATA | RAID1, GiB, 300 * MiB, 2, 1, 3);
	fake_add_chunk(&fake, DATA, GiB, 500 * MiB, 1, 2);
	make_plan(&planned, 0);
	assert_order(&planned, "d");
	assert_int_equal(btrfs_policy_plan_device(planned.plan, 0)->bytes_after[0], GiB);
	free_plan(&planned);
}

static void an_empty_chunk_has_no_target(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 20 * GiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, 20 * GiB, DISK_METADATA, false);
	fake_add_device(&fake, 20 * GiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, DATA, GiB, 500 * MiB, 1, 1);
	fake_add_chunk(&fake, DATA, GiB, 0, 1, 2);
	make_plan(&planned, 0);
	assert_order(&planned, "dd");
	assert_int_equal(target_of(&planned, 0), 3);
	assert_int_equal(btrfs_policy_plan_step(planned.plan, 1)->targets, 0);
	free_plan(&planned);
}

/* Metadata of 300 MiB on a disk, and a chunk on the SSD that could hold it. */
static void plan_for_a_chunk_with_space(struct planned *planned, bool zoned)
{
	fake_init(&fake, FAKE_STOCK);
	fake.zoned = zoned;
	fake_add_device(&fake, 20 * GiB, DISK_METADATA_ONLY, false)->end = zoned ? 2 * GiB : 0;
	fake_add_device(&fake, 20 * GiB, DISK_DATA_ONLY, true)->end = zoned ? 2 * GiB : 0;
	fake_add_chunk(&fake, METADATA, GiB, 100 * MiB, 1, 1);
	fake_add_chunk(&fake, METADATA, GiB, 150 * MiB, 1, 2);
	fake_add_chunk(&fake, METADATA, GiB, 150 * MiB, 1, 2);
	make_plan(planned, 0);
}

/* The rest of a zone cannot be written again; of a chunk that the plan makes it can. */
static void a_zone_with_unused_bytes_takes_none(void **state)
{
	struct planned usual, zoned;
	uint64_t slack;

	plan_for_a_chunk_with_space(&usual, false);
	assert_int_equal(target_of(&usual, 0), 0);
	slack = summary(&usual)->slack_before;
	free_plan(&usual);
	plan_for_a_chunk_with_space(&zoned, true);
	assert_order(&zoned, "mm");
	assert_int_equal(target_of(&zoned, 0), 1);
	assert_int_equal(btrfs_policy_plan_device(zoned.plan, 0)->bytes_after[1], 2 * GiB);
	assert_int_equal(summary(&zoned)->slack_before - summary(&zoned)->slack_after, 300 * MiB);
	/* Free bytes of chunks, two zones of superblocks, less what is kept for system chunks. */
	assert_int_equal(slack - summary(&zoned)->slack_before, 3 * GiB - 400 * MiB + 2 * GiB - 16 * MiB);
	free_plan(&zoned);
}

/* ---- Slack -------------------------------------------------------------- */

static uint64_t floor_of(uint64_t length, uint64_t used)
{
	struct planned planned;
	uint64_t floor;

	fake_init(&fake, FAKE_STOCK);
	fake_set_file(&fake, FAKE_FSID "/allocation/global_rsv_size", "67108864");
	fake_add_device(&fake, 1000 * GiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, 1000 * GiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, METADATA, length, used, 1, 1);
	fake_add_chunk(&fake, DATA, 90 * GiB, 90 * GiB, 1, 2);
	make_plan(&planned, 0);
	floor = summary(&planned)->slack_floor;
	free_plan(&planned);
	return floor;
}

static void the_floor_is_the_most_of_three(void **state)
{
	assert_int_equal(floor_of(4 * GiB, 4 * GiB), GiB + 64 * MiB);
	assert_int_equal(floor_of(40 * GiB, 40 * GiB), 4 * GiB);
	assert_int_equal(floor_of(40 * GiB, 34 * GiB), 6 * GiB);
}

/* Little metadata: the slack at its new place is less than the first floor. */
static void the_floor_of_a_caller_holds(void **state)
{
	const struct btrfs_policy_balance_options all_defaults = {};
	struct planned planned;

	full_ssd(9);
	make_plan(&planned, 0);
	btrfs_policy_plan_free(planned.plan);
	assert_int_equal(bp_plan_new(planned.fs, planned.placement, &all_defaults, 5 * GiB, NULL,
				     false, &planned.plan), 0);
	assert_int_equal(summary(&planned)->slack_floor, 5 * GiB);
	free_plan(&planned);
}

/*
 * A tenth of the metadata in use is more than the slack while one of the data
 * chunks is in two places.
 */
static void slack_that_would_be_lost_forbids_a_move(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 108 * GiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, 8 * GiB, DISK_DATA, true);
	fake_add_chunk(&fake, METADATA, 100 * GiB, 100 * GiB, 1, 1);
	for (int i = 0; i < 7; i++)
		fake_add_chunk(&fake, DATA, GiB, GiB, 1, 1);
	make_plan(&planned, 0);
	assert_order(&planned, "");
	assert_in_range(summary(&planned)->slack_floor, 7 * GiB, 10 * GiB);
	assert_has(btrfs_policy_plan_blocked(planned.plan), "it has to keep");
	assert_in_range(summary(&planned)->short_bytes, MiB, GiB);
	free_plan(&planned);
}

/* Data leaves the SSD until metadata has its slack, and then the rest: more slack than before. */
static void slack_is_rebuilt(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 8 * GiB + 300 * MiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, 100 * GiB, DISK_DATA_ONLY, true);
	for (int i = 0; i < 8; i++)
		fake_add_chunk(&fake, DATA, GiB, 900 * MiB, 1, 1);
	fake_add_chunk(&fake, METADATA, GiB, GiB, 1, 2);
	make_plan(&planned, 0);
	assert_order(&planned, "dddmddddd");
	assert_true(summary(&planned)->slack_before < summary(&planned)->slack_floor);
	assert_true(summary(&planned)->slack_after >= summary(&planned)->slack_floor);
	free_plan(&planned);
}

/* Data goes to the disk that metadata needs for its second copy. */
static void slack_that_cannot_be_rebuilt_is_told(void **state)
{
	struct planned planned;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 8 * GiB + 300 * MiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, 3690 * MiB, DISK_DATA, true);
	fake_add_chunk(&fake, METADATA | RAID1, 256 * MiB, 200 * MiB, 2, 1, 2);
	fake_add_chunk(&fake, DATA, 8 * GiB, 3 * GiB, 1, 1);
	make_plan(&planned, 0);
	assert_order(&planned, "d");
	assert_true(summary(&planned)->slack_after >= summary(&planned)->slack_before);
	assert_true(summary(&planned)->slack_after < summary(&planned)->slack_floor);
	free_plan(&planned);
}

/* ---- Words -------------------------------------------------------------- */

/* Three disks with 800, 300 and 100 MiB; 600 MiB want a place on two of them. */
static void devices_with_most_space_that_lack_are_named(void **state)
{
	struct planned planned;
	const char *text;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 20 * GiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, 20 * GiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, MiB + GiB + 100 * MiB, DISK_DATA_ONLY, true);
	fake_add_device(&fake, MiB + 800 * MiB, DISK_DATA_ONLY, true);
	fake_add_device(&fake, MiB + GiB + 300 * MiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, DATA | RAID1, GiB, 700 * MiB, 2, 1, 2);
	fake_add_chunk(&fake, DATA | RAID1, GiB, 924 * MiB, 2, 3, 5);
	make_plan(&planned, 0);
	text = btrfs_policy_plan_blocked(planned.plan);
	assert_has(text, "devid 5 lacks 300 MiB:");
	assert_null(strstr(text, "devid 3"));
	assert_null(strstr(text, "devid 4"));
	assert_int_equal(summary(&planned)->short_bytes, 300 * MiB);
	free_plan(&planned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_used_goes_first),
		cmocka_unit_test(data_in_the_way_goes_before_system),
		cmocka_unit_test(metadata_waits_for_the_best_place),
		cmocka_unit_test(a_second_choice_is_shared),
		cmocka_unit_test(one_makes_room_on_a_full_ssd),
		cmocka_unit_test(room_for_nothing_is_not_made),
		cmocka_unit_test(an_ssd_all_but_full_is_no_better_place),
		cmocka_unit_test(best_possible_placement_is_no_reason),
		cmocka_unit_test(nothing_joins_a_second_choice_without_need),
		cmocka_unit_test(no_better_place_is_none),
		cmocka_unit_test(one_copy_goes_into_a_chunk_of_two),
		cmocka_unit_test(an_empty_chunk_has_no_target),
		cmocka_unit_test(a_zone_with_unused_bytes_takes_none),
		cmocka_unit_test(the_floor_is_the_most_of_three),
		cmocka_unit_test(the_floor_of_a_caller_holds),
		cmocka_unit_test(slack_that_would_be_lost_forbids_a_move),
		cmocka_unit_test(slack_is_rebuilt),
		cmocka_unit_test(slack_that_cannot_be_rebuilt_is_told),
		cmocka_unit_test(devices_with_most_space_that_lack_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
