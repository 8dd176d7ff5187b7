/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plan: order, room, limits, and on random arrays that what it promises can
 * be carried out by the made-up kernel.
 */
#include "unit.h"

static struct fake fake;

struct planned {
	struct btrfs_policy_fs *fs;
	struct btrfs_policy_placement *placement;
	struct btrfs_policy_plan *plan;
};

static void make_plan(struct planned *planned, uint64_t limit)
{
	planned->fs = fake_open(&fake);
	planned->placement = NULL;
	planned->plan = NULL;
	assert_int_equal(btrfs_policy_placement_read(planned->fs, &planned->placement), 0);
	assert_int_equal(btrfs_policy_plan_new(planned->fs, planned->placement, limit,
					       &planned->plan), 0);
}

static void free_plan(struct planned *planned)
{
	btrfs_policy_placement_free(planned->placement);
	btrfs_policy_plan_free(planned->plan);
	btrfs_policy_fs_unref(planned->fs);
}

static const struct btrfs_policy_plan_summary *summary(const struct planned *planned)
{
	return btrfs_policy_plan_summary(planned->plan);
}

static void order_and_targets(void **state)
{
	static const enum btrfs_policy_kind kinds[] = {
		BTRFS_POLICY_KIND_DATA, BTRFS_POLICY_KIND_METADATA, BTRFS_POLICY_KIND_METADATA,
		BTRFS_POLICY_KIND_SYSTEM,
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
			assert_int_equal(step->target_devids[j] > 2, i == 0);
	}
	assert_null(btrfs_policy_plan_step(planned.plan, 4));
	assert_true(btrfs_policy_plan_step(planned.plan, 1)->chunk->used == 100 * MiB);
	assert_int_equal(summary(&planned)->steps, 4);
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
static void data_makes_room_for_metadata(void **state)
{
	struct planned planned;
	const struct btrfs_policy_step *step;
	bool seen_metadata = false;

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
	for (size_t i = 0; (step = btrfs_policy_plan_step(planned.plan, i)); i++)
		seen_metadata = seen_metadata || step->chunk->kind == BTRFS_POLICY_KIND_METADATA;
	assert_true(seen_metadata);
	free_plan(&planned);
}

static void blocked_without_room(void **state)
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
	assert_int_equal(summary(&planned)->short_bytes, GiB);
	assert_has(btrfs_policy_plan_blocked(planned.plan), "1024 MiB more");
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
		   "RAID1 needs 2 devices that may hold it and there are 1");
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

static void an_empty_chunk_needs_no_room(void **state)
{
	struct planned planned;

	fake_two_and_two(&fake, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	fake.chunks[2].used = 0;
	fake.devices[0].size = fake.devices[1].size = 2 * GiB;
	make_plan(&planned, 0);
	assert_int_equal(btrfs_policy_plan_step(planned.plan, 1)->chunk->used, 0);
	assert_int_equal(btrfs_policy_plan_step(planned.plan, 1)->targets, 0);
	free_plan(&planned);
}

/* ---- Random arrays ------------------------------------------------------ */

static uint64_t seed;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % limit;
}

static const struct {
	uint64_t flag;
	uint32_t stripes;
} random_profiles[] = {
	{ 0, 1 }, { DUP, 2 }, { RAID1, 2 }, { RAID1C3, 3 }, { RAID10, 4 }, { RAID0, 3 },
};

static bool pick_devices(uint64_t *devids, uint32_t count, uint64_t bytes)
{
	for (uint32_t i = 0, tries = 0; i < count; tries++) {
		const struct fake_device *device =
			&fake.devices[random_below(fake.device_count)];
		bool taken = fake_unallocated(&fake, device) < bytes + MiB;

		for (uint32_t j = 0; j < i; j++)
			taken = taken || devids[j] == device->devid;
		if (!taken)
			devids[i++] = device->devid;
		else if (tries > 50)
			return false;
	}
	return true;
}

static void add_random_chunk(void)
{
	static const uint64_t kinds[] = { DATA, DATA, METADATA, SYSTEM };
	size_t profile = random_below(BP_ARRAY_SIZE(random_profiles));
	uint32_t stripes = random_profiles[profile].stripes;
	uint64_t flag = random_profiles[profile].flag;
	uint64_t length = (1 + random_below(16)) * 64 * MiB;
	uint64_t devids[4] = {};
	bool dup = flag == DUP;

	if (!pick_devices(devids, dup ? 1 : stripes, dup ? 2 * length : length))
		return;
	if (dup)
		devids[1] = devids[0];
	if (flag == RAID10)
		length *= 2;
	if (flag == RAID0)
		length *= 3;
	fake_add_chunk(&fake, kinds[random_below(4)] | flag, length,
		       random_below(length / 4096) * 4096ULL, stripes, (int)devids[0],
		       (int)devids[1], (int)devids[2], (int)devids[3]);
}

static void make_random_array(void)
{
	uint32_t devices = 1 + random_below(8);
	uint32_t chunks = random_below(60);

	fake_init(&fake, FAKE_OURS);
	for (uint32_t i = 0; i < devices; i++)
		fake_add_device(&fake, (4 + random_below(40)) * GiB, random_below(6),
				random_below(2));
	for (uint32_t i = 0; i < chunks; i++)
		add_random_chunk();
}

static bool is_gone(uint64_t logical)
{
	for (size_t i = 0; i < fake.chunk_count; i++)
		if (fake.chunks[i].logical == logical)
			return false;
	return true;
}

/* Chunks made by the run may find better room that a later step frees. */
static void check_first_picture(struct btrfs_policy_fs *fs, uint64_t last, unsigned int round)
{
	struct btrfs_policy_placement *placement;
	const struct btrfs_policy_chunk *chunk;

	assert_int_equal(btrfs_policy_fs_refresh(fs), 0);
	assert_int_equal(btrfs_policy_placement_read(fs, &placement), 0);
	for (size_t i = 0; (chunk = btrfs_policy_placement_chunk(placement, i)); i++)
		if (chunk->misplaced && chunk->logical <= last)
			fail_msg("round %u: chunk %d is left", round, (int)i);
	btrfs_policy_placement_free(placement);
}

/*
 * The made-up kernel makes new chunks for each one it moves, which wants more
 * room than the plan counts on; the run must end all the same, must move all
 * that the first picture shows misplaced, and nothing twice.
 */
static void run_random(unsigned int round)
{
	struct btrfs_policy_balance_options options = { .size = sizeof(options) };
	struct btrfs_policy_balance_report *report;
	struct btrfs_policy_fs *fs = fake_open(&fake);
	uint64_t last = fake.chunk_count ? fake.chunks[fake.chunk_count - 1].logical : 0;
	int ret = btrfs_policy_balance(fs, &options, &report);

	if (ret && ret != -ENOSPC)
		fail_msg("round %u: %s", round, btrfs_policy_fs_error(fs));
	if (!ret)
		check_first_picture(fs, last, round);
	for (unsigned int i = 0; i < fake.balances; i++)
		for (unsigned int j = 0; j < i; j++)
			assert_true(!fake.moved[i] || fake.moved[i] != fake.moved[j]);
	for (unsigned int i = 0; i < report->relocated; i++)
		assert_true(is_gone(fake.moved[i]));
	btrfs_policy_balance_report_free(report);
	btrfs_policy_fs_unref(fs);
}

/* Sums after the plan must be those of the chunks it leaves and makes. */
static void check_sums(const struct planned *planned)
{
	const struct btrfs_policy_plan_device *device;

	for (size_t i = 0; (device = btrfs_policy_plan_device(planned->plan, i)); i++) {
		uint64_t before = device->unallocated_before;
		uint64_t after = device->unallocated_after;

		for (int kind = 0; kind < BTRFS_POLICY_KINDS; kind++) {
			before += device->bytes_before[kind];
			after += device->bytes_after[kind];
		}
		assert_int_equal(before, after);
		assert_true(device->unallocated_after <= fake.devices[i].size);
	}
}

static bool target_excludes(uint64_t devid, const struct btrfs_policy_chunk *chunk)
{
	const struct bp_site site = {
		.role = bp_role_from_disk(fake.devices[devid - 1].type),
	};

	return bp_excluded(&site, chunk->type);
}

static void check_targets(const struct planned *planned)
{
	const struct btrfs_policy_step *step;

	for (size_t i = 0; (step = btrfs_policy_plan_step(planned->plan, i)); i++)
		for (uint32_t j = 0; j < step->targets; j++)
			assert_false(target_excludes(step->target_devids[j], step->chunk));
}

static void random_arrays(void **state)
{
	for (unsigned int round = 1; round <= 1500; round++) {
		struct planned planned;

		seed = round * 7919;
		make_random_array();
		make_plan(&planned, 0);
		check_sums(&planned);
		check_targets(&planned);
		free_plan(&planned);
		run_random(round);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_and_targets),
		cmocka_unit_test(steps_share_new_chunks),
		cmocka_unit_test(data_makes_room_for_metadata),
		cmocka_unit_test(blocked_without_room),
		cmocka_unit_test(blocked_without_devices),
		cmocka_unit_test(limit_is_kept),
		cmocka_unit_test(an_empty_chunk_needs_no_room),
		cmocka_unit_test(random_arrays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
