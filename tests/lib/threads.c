/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handles are independent: many threads, each with a handle of its own on a
 * machine of its own, do everything at once and get what one alone gets.  Built
 * with the thread sanitizer where it works, so that a shared word is an error.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/lib/fake.h"

#define THREADS 8
#define ROUNDS 20

static struct fake machines[THREADS];
static char **images;
static int image_count;

static int change(struct btrfs_policy_fs *fs)
{
	struct btrfs_policy_request *request = btrfs_policy_request_new();
	struct btrfs_policy_changes *changes = NULL;
	int ret = btrfs_policy_request_add(request, "read-policy", 0, "roundrobin");

	if (!ret)
		ret = btrfs_policy_request_add(request, "role", 1, "metadata-only");
	if (!ret)
		ret = btrfs_policy_apply(fs, request, BTRFS_POLICY_SAVE, &changes);
	btrfs_policy_changes_free(changes);
	btrfs_policy_request_free(request);
	return ret;
}

static int move(struct btrfs_policy_fs *fs)
{
	struct btrfs_policy_balance_report *report = NULL;
	int ret = btrfs_policy_balance(fs, NULL, &report);

	btrfs_policy_balance_report_free(report);
	return ret;
}

static int use(struct btrfs_policy_fs *fs, bool mounted)
{
	struct btrfs_policy_suggestion *suggestion = NULL;
	struct btrfs_policy_request *saved = NULL;
	int ret = btrfs_policy_suggest(fs, &suggestion);

	btrfs_policy_suggestion_free(suggestion);
	if (ret || !mounted)
		return ret;
	ret = change(fs);
	if (!ret)
		ret = btrfs_policy_saved_read(fs, &saved);
	btrfs_policy_request_free(saved);
	if (!ret)
		ret = move(fs);
	/* An error has its own text in its own handle. */
	if (!ret && (btrfs_policy_setting_get(fs, "nonsense", 0, NULL) != -EINVAL ||
		     !strstr(btrfs_policy_fs_error(fs), "'nonsense'")))
		ret = -EIO;
	return ret;
}

static int one_round(struct fake *machine)
{
	struct btrfs_policy_fs *fs;
	int ret;

	fake_two_and_two(machine, FAKE_OURS, 0, 0);
	fs = bp_fs_new_with(&fake_backend, machine);
	ret = btrfs_policy_fs_open(fs, "/mnt");
	if (!ret)
		ret = use(fs, true);
	btrfs_policy_fs_unref(fs);
	if (ret || !image_count)
		return ret;
	fs = btrfs_policy_fs_new();
	ret = btrfs_policy_fs_open_offline(fs, images, image_count);
	if (!ret)
		ret = use(fs, false);
	btrfs_policy_fs_unref(fs);
	return ret;
}

static void *run(void *machine)
{
	long ret = 0;

	for (int i = 0; !ret && i < ROUNDS; i++)
		ret = one_round(machine);
	return (void *)ret;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int bad = 0;

	images = argv + 1;
	image_count = argc - 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, &machines[i]))
			return 99;
	for (int i = 0; i < THREADS; i++) {
		void *ret;

		pthread_join(threads[i], &ret);
		if (ret)
			printf("# thread %d: %ld\n", i, (long)ret);
		bad += ret != NULL;
	}
	return bad ? 1 : 0;
}
