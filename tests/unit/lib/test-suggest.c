/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The proposals for each array, and that applying them would not be refused.
 */
#include "allocator/array.h"
#include "unit.h"

static struct fake fake;

/* An array: SSDs of `ssd` GiB, disks of 1000 GiB, one data chunk of `profile`. */
struct array {
	const char *name;
	uint32_t ssds;
	uint64_t ssd;
	uint32_t disks;
	uint64_t profile;
	const char *role;	/* proposed for each SSD, or NULL */
	const char *readahead;
	const char *note;	/* a part of one, or NULL */
};

static const struct array arrays[] = {
	{ "small SSDs", 2, 100, 2, RAID1, "metadata-only", "8388608", NULL },
	{ "one SSD", 1, 100, 3, RAID1, "metadata-only", "8388608", NULL },
	{ "three mirrors", 2, 100, 3, RAID1C3, "metadata-only", "16777216", NULL },
	{ "large SSDs", 2, 900, 2, RAID1, "metadata-preferred", "8388608", NULL },
	{ "data needs the SSDs", 2, 100, 2, RAID1C3, "metadata-preferred", "16777216", NULL },
	{ "no mirrors", 2, 100, 2, RAID0, "metadata-only", NULL, "mirrored over devices" },
	{ "disks alone", 0, 0, 4, RAID1, NULL, "8388608", "no non-removable SSD" },
	{ "SSDs alone", 4, 100, 0, RAID1, NULL, NULL, "is known to rotate" },
};

static void make(const struct array *array)
{
	fake_init(&fake, FAKE_OURS);
	for (uint32_t i = 0; i < array->ssds; i++)
		fake_add_device(&fake, array->ssd * GiB, DISK_DATA, false);
	for (uint32_t i = 0; i < array->disks; i++)
		fake_add_device(&fake, 1000 * GiB, DISK_DATA, true);
	fake_add_chunk(&fake, METADATA | RAID1, GiB, MiB, 2, 1, 2);
	fake_add_chunk(&fake, DATA | array->profile, GiB, MiB, 3, 1, 2, 3);
	if (array->profile == RAID1)
		fake.chunks[1].stripes = 2;
}

static const char *proposed(const struct btrfs_policy_suggestion *suggestion, const char *setting,
			    uint64_t devid)
{
	const struct btrfs_policy_change *row;

	for (size_t i = 0; (row = btrfs_policy_suggestion_proposal(suggestion, i)); i++)
		if (!strcmp(row->setting->name, setting) && row->devid == devid)
			return row->new_value;
	return NULL;
}

static void same(const char *what, const char *got, const char *want)
{
	if (!got != !want || (got && strcmp(got, want)))
		fail_msg("%s: got %s, want %s", what, got ? got : "none", want ? want : "none");
}

static bool noted(const struct btrfs_policy_suggestion *suggestion, const char *part)
{
	const char *text;

	for (size_t i = 0; (text = btrfs_policy_suggestion_note(suggestion, i)); i++)
		if (strstr(text, part))
			return true;
	return false;
}

/* The proposals as a request: a dry run accepts them. */
static void can_be_applied(struct btrfs_policy_fs *fs,
			   const struct btrfs_policy_suggestion *suggestion)
{
	struct btrfs_policy_request *request = btrfs_policy_request_new();
	const struct btrfs_policy_change *row;
	struct btrfs_policy_changes *changes;

	for (size_t i = 0; (row = btrfs_policy_suggestion_proposal(suggestion, i)); i++)
		btrfs_policy_request_add(request, row->setting->name, row->devid, row->new_value);
	if (btrfs_policy_apply(fs, request, BTRFS_POLICY_DRY_RUN, &changes))
		fail_msg("%s", btrfs_policy_fs_error(fs));
	btrfs_policy_changes_free(changes);
	btrfs_policy_request_free(request);
}

static void check_array(const struct array *array)
{
	struct btrfs_policy_suggestion *suggestion = NULL;
	struct btrfs_policy_fs *fs;

	make(array);
	fs = fake_open(&fake);
	assert_int_equal(btrfs_policy_suggest(fs, &suggestion), 0);
	for (uint32_t devid = 1; devid <= array->ssds + array->disks; devid++)
		same(array->name, proposed(suggestion, "role", devid),
		     devid <= array->ssds ? array->role : NULL);
	same(array->name, proposed(suggestion, "readahead", 0), array->readahead);
	if (array->note && !noted(suggestion, array->note))
		fail_msg("%s: no note has '%s'", array->name, array->note);
	can_be_applied(fs, suggestion);
	btrfs_policy_suggestion_free(suggestion);
	btrfs_policy_fs_unref(fs);
}

static void arrays_get_what_suits_them(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(arrays); i++)
		check_array(&arrays[i]);
}

static struct btrfs_policy_suggestion *suggest(void)
{
	struct btrfs_policy_suggestion *suggestion = NULL;
	struct btrfs_policy_fs *fs = fake_open(&fake);

	assert_int_equal(btrfs_policy_suggest(fs, &suggestion), 0);
	btrfs_policy_fs_unref(fs);
	return suggestion;
}

/* Also where roles are set already, on disks that data would need or on SSDs. */
static void all_arrays_can_take_it(void **state)
{
	struct btrfs_policy_suggestion *suggestion;

	for (uint32_t i = 0; i < 9 * 4 * 4 * 4 * 4; i++) {
		const struct bp_profile *profile = bp_profile_at(i % 9);
		uint32_t roles = i / 9;
		struct btrfs_policy_fs *fs;

		fake_init(&fake, FAKE_OURS);
		for (uint32_t j = 0; j < 4; j++, roles /= 4)
			fake_add_device(&fake, (j ? 100 : 5) * GiB, roles % 4, j > 0);
		fake_add_chunk(&fake, METADATA | RAID1, GiB, MiB, 2, 1, 2);
		if (profile->devs_min < 4)
			fake_add_chunk(&fake, DATA | profile->flag, GiB, MiB, 3, 1, 2, 3);
		fs = fake_open(&fake);
		assert_int_equal(btrfs_policy_suggest(fs, &suggestion), 0);
		if (btrfs_policy_suggestion_proposal(suggestion, 0) &&
		    btrfs_policy_suggestion_proposal(suggestion, 0)->devid)
			can_be_applied(fs, suggestion);
		btrfs_policy_suggestion_free(suggestion);
		btrfs_policy_fs_unref(fs);
	}
}

/* A hundred times the bytes of such an array do not fit into a number. */
static void shares_of_exbibytes(void **state)
{
	static const struct array array = { "EiB", 2, 1ULL << 29, 2, RAID1, NULL, NULL, NULL };
	struct btrfs_policy_suggestion *suggestion;

	make(&array);
	fake.devices[2].size = fake.devices[3].size = 3ULL << 59;
	suggestion = suggest();
	assert_has(btrfs_policy_suggestion_proposal(suggestion, 0)->reason, " 25% of the array");
	btrfs_policy_suggestion_free(suggestion);
}

static void what_is_set_is_left_alone(void **state)
{
	struct btrfs_policy_suggestion *suggestion;

	fake_two_and_two(&fake, FAKE_OURS, DISK_METADATA, DISK_DATA_ONLY);
	fake.devices[1].type = DISK_DATA;
	fake.devices[1].transport = "usb";
	suggestion = suggest();
	for (uint64_t devid = 1; devid <= 4; devid++)
		assert_null(proposed(suggestion, "role", devid));
	btrfs_policy_suggestion_free(suggestion);
}

/* Hard disks are left out of commits if metadata can be on SSDs alone, and no boot loader reads them. */
static void superblocks_may_lag(void **state)
{
	struct btrfs_policy_suggestion *suggestion;

	for (uint32_t ssds = 1; ssds <= 2; ssds++)
		for (int boots = 0; boots < 2; boots++) {
			const struct array array = { "", ssds, 100, 3, RAID1, NULL, NULL, NULL };

			make(&array);
			fake.boots = boots;
			suggestion = suggest();
			same("superblocks", proposed(suggestion, "lagging-superblocks", 0),
			     ssds == 2 && !boots ? "yes" : NULL);
			assert_int_equal(noted(suggestion, "/boot is here"), ssds == 2 && boots);
			btrfs_policy_suggestion_free(suggestion);
		}
}

static void a_kernel_without_roles_is_told_of(void **state)
{
	struct btrfs_policy_suggestion *suggestion;

	fake_two_and_two(&fake, FAKE_STOCK, DISK_DATA, DISK_DATA);
	suggestion = suggest();
	assert_true(noted(suggestion, "roles have no effect yet"));
	assert_true(noted(suggestion, "does not offer 'roundrobin'"));
	assert_non_null(proposed(suggestion, "role", 1));
	btrfs_policy_suggestion_free(suggestion);
}

/* Roles put metadata on SSDs; that a copy is on each takes a profile and enough of them. */
static void copies_on_few_ssds_are_told_of(void **state)
{
	static const struct {
		uint32_t ssds;
		uint64_t metadata;
		const char *note;
	} cases[] = {
		{ 1, RAID1, "needs 2 SSDs: with 1, copies stay on hard disks" },
		{ 1, BTRFS_BLOCK_GROUP_DUP, "metadata is DUP: it is lost with the SSD" },
		{ 2, 0, "metadata is single: it is lost with the SSD" },
		{ 2, RAID1, NULL },
	};

	for (size_t i = 0; i < BP_ARRAY_SIZE(cases); i++) {
		const struct array array = { "few", cases[i].ssds, 100, 2, RAID1, NULL, NULL, NULL };
		struct btrfs_policy_suggestion *suggestion;

		make(&array);
		fake.chunks[0].type = METADATA | cases[i].metadata;
		fake.chunks[0].stripes = cases[i].metadata ? 2 : 1;
		suggestion = suggest();
		assert_true(cases[i].note ? noted(suggestion, cases[i].note) : !noted(suggestion, "metadata is"));
		btrfs_policy_suggestion_free(suggestion);
	}
}

/* Two SSDs of 100 GiB, two disks of 1000 GiB, RAID1: the capacity can be computed by hand. */
static void capacities(void **state)
{
	struct btrfs_policy_suggestion *suggestion;
	const struct btrfs_policy_capacity *data, *metadata;
	uint64_t chunks, bytes;

	fake_two_and_two(&fake, FAKE_OURS, DISK_DATA, DISK_DATA);
	suggestion = suggest();
	data = btrfs_policy_suggestion_capacity(suggestion, 0);
	metadata = btrfs_policy_suggestion_capacity(suggestion, 1);
	assert_int_equal(data->before / GiB, 1099);
	assert_int_equal(data->after / GiB, 999);
	assert_int_equal(metadata->after / GiB, 1099);
	assert_int_equal(metadata->first_choice / GiB, 99);
	assert_null(btrfs_policy_suggestion_capacity(suggestion, 2));
	btrfs_policy_suggestion_moves(suggestion, &chunks, &bytes);
	assert_int_equal(chunks, 4);
	assert_string_equal(btrfs_policy_suggestion_mismatch(suggestion, 0)->profile, "RAID1C3");
	assert_int_equal(btrfs_policy_suggestion_mismatch(suggestion, 0)->left, 2);
	btrfs_policy_suggestion_free(suggestion);
}

/* Four copies never fitted on three devices: no capacity is lost. */
static void what_never_fitted_is_not_named(void **state)
{
	struct btrfs_policy_suggestion *suggestion;
	const struct btrfs_policy_mismatch *misfit;

	fake_two_and_two(&fake, FAKE_OURS, DISK_DATA, DISK_DATA);
	fake.device_count = 3;
	fake.devices[1].rotational = true;
	suggestion = suggest();
	for (size_t i = 0; (misfit = btrfs_policy_suggestion_mismatch(suggestion, i)); i++)
		assert_string_not_equal(misfit->profile, "RAID1C4");
	assert_true(btrfs_policy_suggestion_mismatch(suggestion, 0));
	btrfs_policy_suggestion_free(suggestion);
}

/* The bytes that chunks get, made one by one; with `first` while all are first choice. */
static uint64_t single_chunks(const struct btrfs_policy_placement *placement, uint64_t type,
			      bool first)
{
	const size_t count = placement->device_count;
	struct bp_candidate *array = bp_array_new(placement->candidates, count);
	uint64_t data[4 * FAKE_DEVICES], bytes = 0;
	struct btrfs_policy_chunk chunk;

	while (!bp_array_allocate(array, count, type, &chunk, data) &&
	       !(first && bp_not_first_choice(array, count, type, data, chunk.stripes)))
		bytes += chunk.length;
	bp_array_free(array, count);
	return bytes;
}

/* Devices of no size, of all sizes and of all roles; some are missing. */
static void capacities_are_those_of_single_chunks(void **state)
{
	static const uint64_t gib[] = { 100, 0, 37, 250, 3, 90, 41, 100, 12, 1 };
	const struct btrfs_policy_capacity *row;
	struct btrfs_policy_suggestion *suggestion;
	struct btrfs_policy_placement *placement;
	const struct bp_profile *profile;

	for (size_t i = 0; i < 9 * BP_ARRAY_SIZE(gib); i++) {
		struct btrfs_policy_fs *fs;

		profile = bp_profile_at(i % 9);
		fake_init(&fake, FAKE_OURS);
		for (size_t j = i / 9; j < BP_ARRAY_SIZE(gib); j++)
			fake_add_device(&fake, 8 * gib[j] * GiB + j * MiB, i & 1 ? (i + j) % 5 : 0,
					true)->missing = i % 4 == 3 && j % 5 == 4;
		fake_add_chunk(&fake, DATA | profile->flag, GiB, 0, 4, 1, 1, 1, 1);
		fake_add_chunk(&fake, METADATA | profile->flag, GiB, 0, 4, 1, 1, 1, 1);
		fs = fake_open(&fake);
		assert_int_equal(btrfs_policy_placement_read(fs, &placement), 0);
		assert_int_equal(btrfs_policy_suggest(fs, &suggestion), 0);
		for (size_t k = 0; (row = btrfs_policy_suggestion_capacity(suggestion, k)); k++) {
			uint64_t type = (k ? METADATA : DATA) | profile->flag;

			assert_int_equal(row->before, single_chunks(placement, type, false));
			assert_int_equal(row->after, row->before);
			assert_int_equal(row->first_choice, single_chunks(placement, type, true));
		}
		btrfs_policy_suggestion_free(suggestion);
		btrfs_policy_placement_free(placement);
		btrfs_policy_fs_unref(fs);
	}
}

/* Hundreds of terabytes take no longer than a small array. */
static void large_arrays(void **state)
{
	struct btrfs_policy_suggestion *suggestion;
	uint64_t sum = 0;

	fake_init(&fake, FAKE_OURS);
	for (int i = 0; i < 30; i++)
		fake_add_device(&fake, (10 + i) * 1024 * GiB, DISK_DATA, i > 1);
	for (size_t i = 0; i < fake.device_count; i++)
		sum += fake.devices[i].size;
	fake_add_chunk(&fake, DATA | RAID1, GiB, MiB, 2, 1, 2);
	suggestion = suggest();
	assert_in_range(btrfs_policy_suggestion_capacity(suggestion, 0)->before,
			sum / 2 - 64 * GiB, sum / 2);
	btrfs_policy_suggestion_free(suggestion);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_get_what_suits_them),
		cmocka_unit_test(all_arrays_can_take_it),
		cmocka_unit_test(shares_of_exbibytes),
		cmocka_unit_test(what_is_set_is_left_alone),
		cmocka_unit_test(superblocks_may_lag),
		cmocka_unit_test(a_kernel_without_roles_is_told_of),
		cmocka_unit_test(copies_on_few_ssds_are_told_of),
		cmocka_unit_test(capacities),
		cmocka_unit_test(what_never_fitted_is_not_named),
		cmocka_unit_test(capacities_are_those_of_single_chunks),
		cmocka_unit_test(large_arrays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
