/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by tests of a run: a machine with four misplaced chunks, a run on it with
 * its progress recorded, and the result.
 */
#ifndef BALANCE_RUN_H
#define BALANCE_RUN_H

#include "unit.h"

static struct fake fake;

/* Called when so many chunks are done; may change the file system. */
static struct {
	uint64_t when;
	void (*what)(void);
} meanwhile;

static inline int setup(void **state)
{
	memset(&meanwhile, 0, sizeof(meanwhile));
	fake_two_and_two(&fake, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	return 0;
}

struct watcher {
	unsigned int calls;
	unsigned int stop_at;
	uint64_t most_chunks, most_bytes;
	uint64_t least_ahead;	/* total, while a chunk is next */
	struct btrfs_policy_progress last;
};

static inline int watch(const struct btrfs_policy_progress *progress, void *user)
{
	struct watcher *watcher = user;

	assert_true(progress->chunks_done <= progress->chunks_total);
	assert_true(progress->bytes_done <= progress->bytes_total);
	assert_true(progress->chunks_done >= watcher->last.chunks_done);
	assert_true(progress->elapsed_ns >= watcher->last.elapsed_ns);
	watcher->last = *progress;
	if (progress->logical && progress->chunks_total < watcher->least_ahead)
		watcher->least_ahead = progress->chunks_total;
	if (progress->chunks_total > watcher->most_chunks)
		watcher->most_chunks = progress->chunks_total;
	if (progress->bytes_total > watcher->most_bytes)
		watcher->most_bytes = progress->bytes_total;
	if (meanwhile.what && progress->chunks_done == meanwhile.when)
		meanwhile.what();
	return ++watcher->calls == watcher->stop_at;
}

struct result {
	int ret;
	struct btrfs_policy_balance_report report;
	char text[512];
	char error[512];
	struct watcher watcher;
};

static inline struct result run(const struct btrfs_policy_balance_options *wanted, unsigned int stop_at)
{
	struct btrfs_policy_balance_options options = {};
	struct btrfs_policy_balance_report *report = NULL;
	struct result result = { .watcher = { .stop_at = stop_at, .least_ahead = UINT64_MAX } };
	struct btrfs_policy_fs *fs = fake_open(&fake);

	if (wanted)
		options = *wanted;
	options.size = sizeof(options);
	options.progress = watch;
	options.user = &result.watcher;
	result.ret = btrfs_policy_balance(fs, &options, &report);
	if (report) {
		result.report = *report;
		snprintf(result.text, sizeof(result.text), "%s", report->text);
	}
	snprintf(result.error, sizeof(result.error), "%s", btrfs_policy_fs_error(fs));
	if (result.ret)
		assert_true(*result.error);
	btrfs_policy_balance_report_free(report);
	btrfs_policy_fs_unref(fs);
	return result;
}

static inline uint64_t misplaced_now(void)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);
	struct btrfs_policy_placement *placement;
	uint64_t found;

	assert_int_equal(btrfs_policy_placement_read(fs, &placement), 0);
	found = btrfs_policy_placement_totals(placement)->misplaced_chunks;
	btrfs_policy_placement_free(placement);
	btrfs_policy_fs_unref(fs);
	return found;
}

static inline void check_moved_once(void)
{
	for (unsigned int i = 0; i < fake.balances; i++)
		for (unsigned int j = 0; j < i; j++)
			if (fake.moved[i])
				assert_true(fake.moved[i] != fake.moved[j]);
}

static inline void forget_roles(void)
{
	for (size_t i = 0; i < fake.device_count; i++)
		fake.devices[i].type = DISK_DATA;
}

#endif
