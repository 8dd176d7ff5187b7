/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Roles: names, bits, the values on disk, and the classification of chunks.
 */
#include "unit.h"

static const struct {
	uint64_t disk;
	enum btrfs_policy_role role;
	const char *name;
} table[] = {
	{ 0, BTRFS_POLICY_ROLE_DATA_PREFERRED, "data-preferred" },
	{ 1, BTRFS_POLICY_ROLE_METADATA_PREFERRED, "metadata-preferred" },
	{ 2, BTRFS_POLICY_ROLE_METADATA_ONLY, "metadata-only" },
	{ 3, BTRFS_POLICY_ROLE_DATA_ONLY, "data-only" },
	{ 4, BTRFS_POLICY_ROLE_FOREIGN, "foreign" },
	{ 5, BTRFS_POLICY_ROLE_DRAINING, "draining" },
	{ 6, BTRFS_POLICY_ROLE_DATA_PREFERRED, "data-preferred" },
	{ 7, BTRFS_POLICY_ROLE_DATA_PREFERRED, "data-preferred" },
	{ 0xffffffffffffff01, BTRFS_POLICY_ROLE_METADATA_PREFERRED, "metadata-preferred" },
};

static void disk_to_role(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(table); i++) {
		assert_int_equal(bp_role_from_disk(table[i].disk), table[i].role);
		assert_string_equal(btrfs_policy_role_name(table[i].role), table[i].name);
	}
	assert_string_equal(btrfs_policy_role_name(99), "unknown");
}

static void role_to_disk_keeps_other_bits(void **state)
{
	for (int role = 0; role <= BTRFS_POLICY_ROLE_DRAINING; role++) {
		if (role == BTRFS_POLICY_ROLE_UNKNOWN)
			continue;

		uint64_t type = bp_role_to_disk(role, 0xabcdef00000000f7);

		assert_int_equal(bp_role_from_disk(type), role);
		assert_true((type & ~7ULL) == 0xabcdef00000000f0);
	}
}

static void parse_takes_whole_words(void **state)
{
	static const char *const bad[] = {
		"", "data", "Data-only", "data-only ", " data-only", "data-only\n", "foreign",
		"draining", "unknown", "0", "data-onlyx",
	};
	enum btrfs_policy_role role;

	for (int i = 0; i < 4; i++) {
		assert_int_equal(btrfs_policy_role_parse(btrfs_policy_role_name(i), &role), 0);
		assert_int_equal(role, i);
	}
	for (size_t i = 0; i < BP_ARRAY_SIZE(bad); i++)
		assert_int_equal(btrfs_policy_role_parse(bad[i], &role), -EINVAL);
}

/* Devices 1 and 2 are SSDs, 3 and 4 disks; free space in GiB. */
static const struct expectation {
	const char *name;
	uint64_t type;
	uint64_t disk[4];
	uint64_t free_space[4];
	uint32_t stripes;
	uint64_t devids[4];
	enum btrfs_policy_misplaced expected;
} expectations[] = {
	{ "all the same role", METADATA | RAID1, { 0, 0, 0, 0 }, { 9, 9, 9, 9 }, 2, { 3, 4 },
	  BTRFS_POLICY_PLACED },
	{ "metadata on disks", METADATA | RAID1, { 1, 1, 0, 0 }, { 9, 9, 9, 9 }, 2, { 3, 4 },
	  BTRFS_POLICY_ON_SECOND_CHOICE },
	{ "metadata on disks, SSDs full", METADATA | RAID1, { 1, 1, 0, 0 }, { 0, 0, 9, 9 }, 2,
	  { 3, 4 }, BTRFS_POLICY_PLACED },
	{ "one SSD has space for one copy", METADATA | RAID1, { 1, 1, 0, 0 }, { 9, 0, 9, 9 }, 2,
	  { 3, 4 }, BTRFS_POLICY_ON_SECOND_CHOICE },
	{ "one SSD only, one copy there", METADATA | RAID1, { 1, 0, 0, 0 }, { 9, 9, 9, 9 }, 2,
	  { 1, 4 }, BTRFS_POLICY_PLACED },
	{ "one SSD only, no copy there", METADATA | RAID1, { 1, 0, 0, 0 }, { 9, 9, 9, 9 }, 2,
	  { 3, 4 }, BTRFS_POLICY_ON_SECOND_CHOICE },
	{ "second SSD has space", METADATA | RAID1, { 1, 1, 0, 0 }, { 0, 9, 9, 9 }, 2, { 1, 4 },
	  BTRFS_POLICY_ON_SECOND_CHOICE },
	{ "system counts as metadata", SYSTEM | RAID1, { 2, 2, 3, 3 }, { 0, 0, 9, 9 }, 2, { 3, 4 },
	  BTRFS_POLICY_ON_EXCLUDED },
	{ "excluded without space elsewhere", DATA | RAID1, { 2, 2, 0, 0 }, { 9, 9, 0, 0 }, 2,
	  { 1, 3 }, BTRFS_POLICY_ON_EXCLUDED },
	{ "data on SSD, disk has space", DATA, { 1, 1, 0, 0 }, { 9, 9, 9, 9 }, 1, { 1 },
	  BTRFS_POLICY_ON_SECOND_CHOICE },
	{ "data on SSD, disks full", DATA, { 1, 1, 0, 0 }, { 9, 9, 0, 0 }, 1, { 1 },
	  BTRFS_POLICY_PLACED },
	{ "DUP needs space for both stripes", METADATA | DUP, { 1, 0, 0, 0 }, { 1, 9, 9, 9 }, 2,
	  { 3, 3 }, BTRFS_POLICY_PLACED },
	{ "DUP with space for both", METADATA | DUP, { 1, 0, 0, 0 }, { 2, 9, 9, 9 }, 2, { 3, 3 },
	  BTRFS_POLICY_ON_SECOND_CHOICE },
	{ "striped: enough first choice", METADATA | RAID10, { 1, 1, 0, 0 }, { 9, 9, 9, 9 }, 4,
	  { 1, 2, 3, 4 }, BTRFS_POLICY_ON_SECOND_CHOICE },
	{ "striped: not enough first choice", METADATA | RAID10, { 1, 0, 0, 0 }, { 9, 9, 9, 9 }, 4,
	  { 1, 2, 3, 4 }, BTRFS_POLICY_PLACED },
	{ "mixed block group", DATA | METADATA | RAID1, { 2, 2, 2, 2 }, { 9, 9, 9, 9 }, 2, { 3, 4 },
	  BTRFS_POLICY_PLACED },
	{ "foreign device, others have space", DATA, { 4, 0, 0, 0 }, { 9, 9, 9, 9 }, 1, { 1 },
	  BTRFS_POLICY_ON_SECOND_CHOICE },
};

static void classify_chunks(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(expectations); i++) {
		const struct expectation *v = &expectations[i];
		struct bp_candidate candidates[4];
		struct btrfs_policy_chunk chunk = {
			.length = GiB, .stripe_length = GiB, .type = v->type,
			.kind = bp_kind_of(v->type), .stripes = v->stripes, .devids = v->devids,
		};

		for (int j = 0; j < 4; j++)
			candidates[j] = (struct bp_candidate){
				.devid = j + 1, .role = bp_role_from_disk(v->disk[j]),
				.writeable = true, .size = 100 * GiB,
				.free_space = v->free_space[j] * GiB,
			};
		if (bp_classify(candidates, 4, &chunk) != v->expected)
			fail_msg("%s: not %d", v->name, v->expected);
	}
}

static void a_device_that_is_gone_is_no_place(void **state)
{
	const uint64_t devids[] = { 3, 4 };
	struct bp_candidate candidates[4] = {
		{ 1, BTRFS_POLICY_ROLE_METADATA_ONLY, false, 100 * GiB, 50 * GiB, 0, false, NULL, 0, 16384 },
		{ 2, BTRFS_POLICY_ROLE_METADATA_ONLY, false, 100 * GiB, 50 * GiB, 0, false, NULL, 0, 16384 },
		{ 3, BTRFS_POLICY_ROLE_DATA_PREFERRED, true, 100 * GiB, 50 * GiB, 0, false, NULL, 0, 16384 },
		{ 4, BTRFS_POLICY_ROLE_DATA_PREFERRED, true, 100 * GiB, 50 * GiB, 0, false, NULL, 0, 16384 },
	};
	struct btrfs_policy_chunk chunk = {
		.length = GiB, .stripe_length = GiB, .type = METADATA | RAID1,
		.kind = BTRFS_POLICY_KIND_METADATA, .stripes = 2, .devids = devids,
	};

	assert_int_equal(bp_classify(candidates, 4, &chunk), BTRFS_POLICY_PLACED);
	candidates[0].writeable = true;
	assert_int_equal(bp_classify(candidates, 4, &chunk), BTRFS_POLICY_ON_SECOND_CHOICE);
}

static void kinds_have_names(void **state)
{
	assert_string_equal(btrfs_policy_kind_name(BTRFS_POLICY_KIND_DATA), "Data");
	assert_string_equal(btrfs_policy_kind_name(BTRFS_POLICY_KIND_MIXED), "Data+Metadata");
	assert_string_equal(btrfs_policy_kind_name(BTRFS_POLICY_KINDS), "unknown");
}

/* The widest chunk is the longest item of a tree block, or two of the superblock's list. */
static void no_chunk_is_wider_than_its_item(void **state)
{
	static const struct {
		uint32_t nodesize;
		uint64_t type;
		uint32_t stripes;
	} cases[] = {
		{ 4096, DATA | RAID0, 122 }, { 16384, DATA | RAID0, 506 },
		{ 16384, METADATA | RAID10, 506 }, { 65536, DATA | RAID10, 700 },
		{ 4096, SYSTEM | RAID0, 58 }, { 16384, SYSTEM | RAID10, 58 }, { 4096, DATA | RAID1, 2 },
	};
	static struct bp_candidate candidates[701];
	const size_t count = BP_ARRAY_SIZE(candidates);
	static uint64_t devids[2 * BP_ARRAY_SIZE(candidates)];
	struct btrfs_policy_chunk chunk;

	for (size_t i = 0; i < BP_ARRAY_SIZE(cases); i++) {
		for (size_t j = 0; j < count; j++)
			candidates[j] = (struct bp_candidate){
				.devid = j + 1, .writeable = true, .size = 100 * GiB,
				.free_space = 50 * GiB, .nodesize = cases[i].nodesize,
			};
		assert_int_equal(bp_select(candidates, count, cases[i].type, &chunk, devids, NULL), 0);
		assert_int_equal(chunk.stripes, cases[i].stripes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(disk_to_role),
		cmocka_unit_test(role_to_disk_keeps_other_bits),
		cmocka_unit_test(parse_takes_whole_words),
		cmocka_unit_test(classify_chunks),
		cmocka_unit_test(a_device_that_is_gone_is_no_place),
		cmocka_unit_test(no_chunk_is_wider_than_its_item),
		cmocka_unit_test(kinds_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
