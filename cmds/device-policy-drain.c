/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `btrfs device policy drain`: keeps new chunks off devices, moves the chunks that they
 * have to the others, and removes them if that is wanted.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmds/balance-plan.h"
#include "cmds/balance-run.h"
#include "cmds/changes.h"
#include "cmds/commands.h"
#include "cmds/devices.h"
#include "cmds/filesystem.h"
#include "cmds/handles.h"
#include "cmds/progress.h"

#define DOCUMENT "device-policy-drain"

struct drain_args {
	bool remove;
	bool resume;
	bool undo;
	bool enqueue;
	int progress;
};

/* Devices have been removed up to @removed; @report may be NULL. */
static void print_result(const struct run *run, struct btrfs_policy_fs *fs,
			 const struct btrfs_policy_changes *changes,
			 const struct btrfs_policy_balance_report *report,
			 const uint64_t *devids, size_t removed)
{
	json_object *object, *array;

	for (size_t i = 0; !run->json && i < removed; i++)
		say(LEVEL_DEFAULT, "removed: device %" PRIu64, devids[i]);
	if (!run->json)
		return;
	object = changes_json(run, fs, changes, false);
	array = json_object_new_array();
	for (size_t i = 0; i < removed; i++)
		json_object_array_add(array, json_object_new_int64(devids[i]));
	json_object_object_add(object, "report", report ? balance_report_json(report) : NULL);
	json_object_object_add(object, "removed", array);
	json_print_document(DOCUMENT, object);
}

/* "draining=3,4" */
static char *assume_text(const uint64_t *devids, size_t count)
{
	char *text = xstrdup("draining=");

	for (size_t i = 0; i < count; i++) {
		char *longer = xasprintf("%s%s%" PRIu64, text, i ? "," : "", devids[i]);

		free(text);
		text = longer;
	}
	return text;
}

/* Is there room for what is on the devices?  Nothing has been changed yet. */
static int check_room(struct btrfs_policy_fs *fs, const char *assume,
		      const struct btrfs_policy_balance_options *options)
{
	_cleanup_(placement) struct btrfs_policy_placement *placement = NULL;
	_cleanup_(plan) struct btrfs_policy_plan *plan = NULL;
	int ret = btrfs_policy_balance_check(fs, options);

	if (!ret)
		ret = btrfs_policy_placement_read(fs, &placement);
	if (!ret)
		ret = btrfs_policy_placement_assume(fs, placement, assume);
	if (!ret)
		ret = btrfs_policy_placement_only_draining(fs, placement);
	if (!ret)
		ret = btrfs_policy_plan_new(fs, placement, options, &plan);
	if (!ret)
		ret = btrfs_policy_plan_keeps_copies(fs, placement, plan);
	if (ret)
		return filesystem_failed(fs, ret);
	if (!btrfs_policy_plan_blocked(plan))
		return STATUS_OK;
	error("cannot drain: %s", btrfs_policy_plan_blocked(plan));
	return STATUS_NO_SPACE;
}

static int remove_all(struct btrfs_policy_fs *fs, const uint64_t *devids, size_t count,
		      size_t *removed)
{
	for (*removed = 0; *removed < count; (*removed)++) {
		int ret = btrfs_policy_device_remove(fs, devids[*removed]);

		if (ret)
			return filesystem_failed(fs, ret);
	}
	return STATUS_OK;
}

/* The devices are draining. */
static int move_and_remove(const struct run *run, struct btrfs_policy_fs *fs,
			   const struct btrfs_policy_balance_options *options,
			   const struct btrfs_policy_changes *changes, const uint64_t *devids,
			   size_t count)
{
	_cleanup_(report) struct btrfs_policy_balance_report *report = NULL;
	const struct drain_args *args = run->args;
	int ret = balance_run(fs, *options, args->progress, &report);
	int status = balance_end_status(report, ret);
	bool empty = !ret && !report->still_misplaced;
	size_t removed = 0;

	if (report && !run->json)
		balance_print_report(report, ret);
	if (ret)
		filesystem_failed(fs, ret);
	if (!empty)
		warning("the devices are still draining; 'drain --resume' goes on, 'drain --undo' gives them their roles back");
	else if (args->remove)
		status = remove_all(fs, devids, count, &removed);
	print_result(run, fs, changes, report, devids, removed);
	return status || empty ? status : STATUS_NO_SPACE;
}

static int drain(const struct run *run, struct btrfs_policy_fs *fs, const uint64_t *devids,
		 size_t count)
{
	const struct drain_args *args = run->args;
	const struct btrfs_policy_balance_options options = {
		.size = sizeof(options), .enqueue = args->enqueue, .only_draining = true,
	};
	_cleanup_(changes) struct btrfs_policy_changes *changes = NULL;
	_cleanup_free_ char *assume = assume_text(devids, count);
	int status, ret = btrfs_policy_drain(fs, devids, count, BTRFS_POLICY_DRY_RUN, &changes);

	if (ret)
		return filesystem_failed(fs, ret);
	if (run->dry_run && !run->json)
		changes_print(run, changes);
	if (run->dry_run)
		return balance_show_plan(run, fs, DOCUMENT, &options, assume);
	status = check_room(fs, assume, &options);
	if (status)
		return status;
	btrfs_policy_changes_free(changes);
	changes = NULL;
	ret = btrfs_policy_drain(fs, devids, count, 0, &changes);
	if (ret)
		return filesystem_failed(fs, ret);
	if (!run->json)
		changes_print(run, changes);
	return move_and_remove(run, fs, &options, changes, devids, count);
}

static int undo(const struct run *run, struct btrfs_policy_fs *fs, const uint64_t *devids,
		size_t count)
{
	unsigned int flags = run->dry_run ? BTRFS_POLICY_DRY_RUN : 0;
	_cleanup_(changes) struct btrfs_policy_changes *changes = NULL;
	int ret = btrfs_policy_drain_undo(fs, devids, count, flags, &changes);

	if (ret)
		return filesystem_failed(fs, ret);
	if (!run->json)
		changes_print(run, changes);
	print_result(run, fs, changes, NULL, devids, 0);
	return STATUS_OK;
}

/* Without words: all that are draining. */
static int find_devices(struct btrfs_policy_fs *fs, char *const *words, int word_count,
			uint64_t **devids, size_t *count)
{
	const struct btrfs_policy_device *device;

	if (word_count)
		return devices_select(fs, words, word_count, devids, count);
	*devids = xcalloc(btrfs_policy_device_count(fs), sizeof(**devids));
	*count = 0;
	for (size_t i = 0; (device = btrfs_policy_device_at(fs, i)); i++)
		if (device->role == BTRFS_POLICY_ROLE_DRAINING)
			(*devids)[(*count)++] = device->devid;
	return 0;
}

static int check_words(const struct drain_args *args, int count)
{
	if (args->undo && (args->resume || args->remove))
		error("--undo goes with neither --resume nor --remove");
	else if (!count && !args->undo && !args->resume)
		error("no device given to drain; name devices by path or by devid");
	else
		return STATUS_OK;
	return STATUS_FAILURE;
}

static int cmd_device_policy_drain(const struct run *run)
{
	_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
	_cleanup_free_ uint64_t *devids = NULL;
	const struct drain_args *args = run->args;
	int status, ret, words = run->count;
	const char *path = NULL;
	size_t count = 0;

	if (words && !word_is_device(run->words[words - 1]))
		path = run->words[--words];
	status = check_words(args, words);
	if (!status)
		status = filesystem_open(path, &fs);
	if (status)
		return status;
	ret = find_devices(fs, run->words, words, &devids, &count);
	if (ret)
		return filesystem_failed(fs, ret);
	if (count)
		return args->undo ? undo(run, fs, devids, count) : drain(run, fs, devids, count);
	if (!run->json)
		say(LEVEL_DEFAULT, "no device is draining, nothing to do");
	print_result(run, fs, NULL, NULL, NULL, 0);
	return STATUS_OK;
}

static const struct option_row drain_options[] = {
	{ .kind = OPTION_FLAG, .name = "remove", .offset = offsetof(struct drain_args, remove),
	  .help = "remove the devices when they are empty" },
	{ .kind = OPTION_FLAG, .name = "resume", .offset = offsetof(struct drain_args, resume),
	  .help = "go on with the devices that are draining" },
	{ .kind = OPTION_FLAG, .name = "undo", .offset = offsetof(struct drain_args, undo),
	  .help = "give draining devices the roles that they had; chunks stay where they "
		  "are" },
	{ .kind = OPTION_FLAG, .name = "enqueue", .offset = offsetof(struct drain_args, enqueue),
	  .help = "wait if there's another exclusive operation running" },
	{ .kind = OPTION_CHOICE, .name = "progress", .argument = "MODE",
	  .offset = offsetof(struct drain_args, progress), .choices = progress_modes,
	  .help = "report on stderr: auto (on a terminal, the default), line (every "
		  "10 seconds), json, none" },
	OPTIONS_END
};

static const char *const drain_details[] = {
	"Take devices out of use, several in one plan: from one transaction on they",
	"get no new chunks, and their chunks move to the other devices, each once and",
	"none to a device that drains. If there is no room for all of them nothing",
	"changes. After an interruption, also by a reboot, the devices still drain.",
	"The last word is <path> unless it names a device.",
	NULL
};

const struct command device_policy_drain_command = {
	.token = "drain",
	.synopsis = "[options] <device>... [<path>]",
	.summary = "Move everything off devices",
	.details = drain_details,
	.options = drain_options,
	.args_size = sizeof(struct drain_args),
	.max_words = ANY_NUMBER,
	.run = cmd_device_policy_drain,
};
