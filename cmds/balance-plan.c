/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the plan of a balance to people and machines.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cmds/balance-plan.h"
#include "cmds/handles.h"
#include "cmds/devices.h"
#include "cmds/filesystem.h"

enum { STEP_LOGICAL, STEP_LENGTH, STEP_USED, STEP_KIND, STEP_PROFILE, STEP_WHY, STEP_FROM,
	STEP_TO, STEP_METHOD, STEP_OBSTACLE, STEP_COLUMNS };

static const struct column step_columns[] = {
	[STEP_LOGICAL] = { "logical", "Logical", COLUMN_RIGHT },
	[STEP_LENGTH] = { "length", "Length", COLUMN_RIGHT },
	[STEP_USED] = { "used", "Used", COLUMN_RIGHT },
	[STEP_KIND] = { "kind", "Type", 0 },
	[STEP_PROFILE] = { "profile", "Profile", 0 },
	[STEP_WHY] = { "reason", "Why", 0 },
	[STEP_FROM] = { "devids", "From", 0 },
	[STEP_TO] = { "target-devids", "To", 0 },
	[STEP_METHOD] = { "method", "Method", 0 },
	[STEP_OBSTACLE] = { "method-reason", "Because", 0 },
};

static const char *const reasons[] = {
	[BTRFS_POLICY_PLACED] = "space freed",
	[BTRFS_POLICY_ON_EXCLUDED] = "excluded",
	[BTRFS_POLICY_ON_SECOND_CHOICE] = "second choice",
};

enum { SPACE_ID, SPACE_BEFORE, SPACE_LEAST, SPACE_AFTER, SPACE_COLUMNS };

static const struct column space_columns[] = {
	[SPACE_ID] = { "devid", NULL, 0 },
	[SPACE_BEFORE] = { "unallocated", NULL, 0 },
	[SPACE_LEAST] = { "unallocated-least", NULL, 0 },
	[SPACE_AFTER] = { "unallocated-after", NULL, 0 },
};

enum { DEVICE_ID, DEVICE_PATH, DEVICE_ROLE, DEVICE_DATA_BEFORE, DEVICE_DATA_AFTER,
	DEVICE_METADATA_BEFORE, DEVICE_METADATA_AFTER, DEVICE_SYSTEM_BEFORE, DEVICE_SYSTEM_AFTER,
	DEVICE_ROOM_BEFORE, DEVICE_ROOM_AFTER, DEVICE_COLUMNS };

static const struct column device_columns[] = {
	[DEVICE_ID] = { "devid", "Id", COLUMN_RIGHT },
	[DEVICE_PATH] = { "path", "Path", 0 },
	[DEVICE_ROLE] = { "role", "Role", 0 },
	[DEVICE_DATA_BEFORE] = { "data-bytes", "Data", COLUMN_RIGHT },
	[DEVICE_DATA_AFTER] = { "data-bytes-after", "then", COLUMN_RIGHT },
	[DEVICE_METADATA_BEFORE] = { "metadata-bytes", "Metadata", COLUMN_RIGHT },
	[DEVICE_METADATA_AFTER] = { "metadata-bytes-after", "then", COLUMN_RIGHT },
	[DEVICE_SYSTEM_BEFORE] = { "system-bytes", NULL, 0 },
	[DEVICE_SYSTEM_AFTER] = { "system-bytes-after", NULL, 0 },
	[DEVICE_ROOM_BEFORE] = { "unallocated", "Unallocated", COLUMN_RIGHT },
	[DEVICE_ROOM_AFTER] = { "unallocated-after", "then", COLUMN_RIGHT },
};

enum { SUM_CHUNKS, SUM_MISPLACED, SUM_STEPS, SUM_SIZE, SUM_USED, SUM_BLOCKED, SUM_SHORT,
	SUM_REASON, SUM_BEYOND, SUM_SLACK, SUM_SLACK_AFTER, SUM_SLACK_FLOOR, SUM_LEAST, SUM_MOST,
	SUM_STRIPES, SUM_COLUMNS };

static const struct column sum_columns[] = {
	[SUM_CHUNKS] = { "chunks", NULL, 0 },
	[SUM_MISPLACED] = { "misplaced-chunks", NULL, 0 },
	[SUM_STEPS] = { "chunks-to-relocate", NULL, 0 },
	[SUM_SIZE] = { "size", NULL, 0 },
	[SUM_USED] = { "used", NULL, 0 },
	[SUM_BLOCKED] = { "blocked-chunks", NULL, 0 },
	[SUM_SHORT] = { "short-bytes", NULL, 0 },
	[SUM_REASON] = { "blocked-reason", NULL, 0 },
	[SUM_BEYOND] = { "beyond-limit-chunks", NULL, 0 },
	[SUM_SLACK] = { "metadata-slack", NULL, 0 },
	[SUM_SLACK_AFTER] = { "metadata-slack-after", NULL, 0 },
	[SUM_SLACK_FLOOR] = { "metadata-slack-floor", NULL, 0 },
	[SUM_LEAST] = { "least-seconds", NULL, 0 },
	[SUM_MOST] = { "most-seconds", NULL, 0 },
	[SUM_STRIPES] = { "by-stripes-chunks", NULL, 0 },
};

static void set_step(struct cell *record, const struct btrfs_policy_step *step)
{
	record_set_number(record, STEP_LOGICAL, step->chunk->logical);
	record_set_size(record, STEP_LENGTH, step->chunk->length);
	record_set_size(record, STEP_USED, step->chunk->used);
	record_set_text(record, STEP_KIND, btrfs_policy_kind_name(step->chunk->kind));
	record_set_text(record, STEP_PROFILE, step->chunk->profile);
	record_set_text(record, STEP_WHY, reasons[step->chunk->misplaced]);
	record_set_numbers(record, STEP_FROM, step->chunk->devids, step->chunk->stripes);
	record_set_numbers(record, STEP_TO, step->target_devids, step->targets);
	record_set_text(record, STEP_METHOD, step->obstacle ? "relocate" : "stripes");
	record_set_text(record, STEP_OBSTACLE, btrfs_policy_obstacle_name(step->obstacle));
}

static struct records *read_steps(const struct btrfs_policy_plan *plan)
{
	struct records *records = records_new(step_columns, STEP_COLUMNS);
	const struct btrfs_policy_step *step;

	for (size_t i = 0; (step = btrfs_policy_plan_step(plan, i)); i++)
		set_step(records_add(records), step);
	return records;
}

static void set_device(struct cell *record, const struct btrfs_policy_plan_device *row)
{
	const uint64_t *before = row->bytes_before, *after = row->bytes_after;

	record_set_number(record, DEVICE_ID, row->devid);
	record_set_text(record, DEVICE_ROLE, btrfs_policy_role_name(row->role));
	record_set_size(record, DEVICE_DATA_BEFORE, before[BTRFS_POLICY_KIND_DATA]);
	record_set_size(record, DEVICE_DATA_AFTER, after[BTRFS_POLICY_KIND_DATA]);
	record_set_size(record, DEVICE_METADATA_BEFORE, before[BTRFS_POLICY_KIND_METADATA]);
	record_set_size(record, DEVICE_METADATA_AFTER, after[BTRFS_POLICY_KIND_METADATA]);
	record_set_size(record, DEVICE_SYSTEM_BEFORE, before[BTRFS_POLICY_KIND_SYSTEM]);
	record_set_size(record, DEVICE_SYSTEM_AFTER, after[BTRFS_POLICY_KIND_SYSTEM]);
	record_set_size(record, DEVICE_ROOM_BEFORE, row->unallocated_before);
	record_set_size(record, DEVICE_ROOM_AFTER, row->unallocated_after);
}

static struct records *read_devices(const struct btrfs_policy_fs *fs,
				    const struct btrfs_policy_plan *plan)
{
	struct records *records = records_new(device_columns, DEVICE_COLUMNS);
	const struct btrfs_policy_plan_device *row;

	for (size_t i = 0; (row = btrfs_policy_plan_device(plan, i)); i++) {
		const struct btrfs_policy_device *device =
			btrfs_policy_device_find(fs, row->devid);
		struct cell *record = records_add(records);

		set_device(record, row);
		if (device)
			record_set_text(record, DEVICE_PATH, device->path);
	}
	return records;
}

static json_object *summary_json(const struct btrfs_policy_plan *plan)
{
	_cleanup_(records) struct records *records = records_new(sum_columns, SUM_COLUMNS);
	const struct btrfs_policy_plan_summary *sum = btrfs_policy_plan_summary(plan);
	struct cell *record = records_add(records);

	record_set_number(record, SUM_CHUNKS, sum->chunks);
	record_set_number(record, SUM_MISPLACED, sum->misplaced);
	record_set_number(record, SUM_STEPS, sum->steps);
	record_set_size(record, SUM_SIZE, sum->size);
	record_set_size(record, SUM_USED, sum->used);
	record_set_number(record, SUM_BLOCKED, sum->blocked);
	record_set_size(record, SUM_SHORT, sum->short_bytes);
	record_set_text(record, SUM_REASON, btrfs_policy_plan_blocked(plan));
	record_set_number(record, SUM_BEYOND, sum->beyond_limit);
	record_set_size(record, SUM_SLACK, sum->slack_before);
	record_set_size(record, SUM_SLACK_AFTER, sum->slack_after);
	record_set_size(record, SUM_SLACK_FLOOR, sum->slack_floor);
	record_set_number(record, SUM_LEAST, sum->least_seconds);
	record_set_number(record, SUM_MOST, sum->most_seconds);
	record_set_number(record, SUM_STRIPES, sum->by_stripes);
	return records_json_object(records, 0);
}

static json_object *spaces_json(const struct btrfs_policy_step *step)
{
	_cleanup_(records) struct records *records = records_new(space_columns, SPACE_COLUMNS);

	for (size_t i = 0; i < step->space_count; i++) {
		struct cell *record = records_add(records);

		record_set_number(record, SPACE_ID, step->spaces[i].devid);
		record_set_size(record, SPACE_BEFORE, step->spaces[i].before);
		record_set_size(record, SPACE_LEAST, step->spaces[i].least);
		record_set_size(record, SPACE_AFTER, step->spaces[i].after);
	}
	return records_json_array(records);
}

static json_object *step_json(const void *plan, size_t index)
{
	_cleanup_(records) struct records *records = records_new(step_columns, STEP_COLUMNS);
	const struct btrfs_policy_step *step = btrfs_policy_plan_step(plan, index);
	json_object *object;

	if (!step)
		return NULL;
	set_step(records_add(records), step);
	object = records_json_object(records, 0);
	json_object_object_add(object, "devices", spaces_json(step));
	return object;
}

/* A plan may have 400,000 steps, each 6 KB as an object: one at a time. */
static void print_json(const struct btrfs_policy_fs *fs, const struct btrfs_policy_plan *plan,
		       const char *name)
{
	_cleanup_(records) struct records *devices = read_devices(fs, plan);
	json_object *object = filesystem_json(fs);

	json_object_object_add(object, "enforced",
			       json_object_new_boolean(btrfs_policy_enforced(fs, NULL)));
	json_object_object_add(object, "dry-run", json_object_new_boolean(true));
	json_object_object_add(object, "plan", summary_json(plan));
	json_object_object_add(object, "steps", NULL);
	json_object_object_add(object, "devices", records_json_array(devices));
	json_print_streamed(name, object, "steps", step_json, plan);
}

static char *format_time(uint64_t seconds)
{
	if (seconds < 60)
		return xasprintf("%" PRIu64 " s", seconds);
	if (seconds < 3600)
		return xasprintf("%" PRIu64 " min", (seconds + 30) / 60);
	return xasprintf("%.1f h", seconds / 3600.0);
}

static void print_summary(const struct btrfs_policy_plan *plan)
{
	const struct btrfs_policy_plan_summary *sum = btrfs_policy_plan_summary(plan);
	_cleanup_free_ char *least = format_time(sum->least_seconds),
		       *most = format_time(sum->most_seconds);
	uint64_t kept = sum->slack_floor < sum->slack_before ? sum->slack_floor : sum->slack_before;
	char size[UNITS_TEXT], used[UNITS_TEXT], then[UNITS_TEXT];

	printf("Chunks: %" PRIu64 ", of which %" PRIu64 " misplaced, %" PRIu64
	       " to move (%s, %s used), %" PRIu64 " by stripes\n",
	       sum->chunks, sum->misplaced, sum->steps,
	       units_format(sum->size, &UNITS_DEFAULT, size),
	       units_format(sum->used, &UNITS_DEFAULT, used), sum->by_stripes);
	if (sum->steps)
		printf("Time:   about %s to %s\n", least, most);
	/* During the plan it does not fall below the floor, or below its first value. */
	if (sum->steps && !sum->beyond_limit)
		printf("Slack:  metadata can grow by %s now, by %s then, by %s or more meanwhile\n",
		       units_format(sum->slack_before, &UNITS_DEFAULT, size),
		       units_format(sum->slack_after, &UNITS_DEFAULT, then),
		       units_format(kept, &UNITS_DEFAULT, used));
	if (sum->steps && !sum->beyond_limit && sum->slack_after < sum->slack_floor)
		warning("metadata will have less to grow into than the %s it should have: add a device that takes it, or change a role",
			units_format(sum->slack_floor, &UNITS_DEFAULT, used));
	if (sum->beyond_limit)
		printf("Limit:  leaves out %s\n",
		       units_count(sum->beyond_limit, "misplaced chunk", size));
}

static void print_text(const struct btrfs_policy_fs *fs, const struct btrfs_policy_plan *plan)
{
	_cleanup_(records) struct records *steps = read_steps(plan);
	_cleanup_(records) struct records *devices = read_devices(fs, plan);
	const char *blocked = btrfs_policy_plan_blocked(plan);

	print_summary(plan);
	if (records_count(steps)) {
		putchar('\n');
		records_print_table(devices, &UNITS_DEFAULT);
		putchar('\n');
		records_print_table(steps, &UNITS_DEFAULT);
	}
	if (blocked)
		warning("%s", blocked);
}

/* Without a chunk to move, the run does not mind another operation. */
static int check_run(struct btrfs_policy_fs *fs, const struct btrfs_policy_plan *plan,
		     const struct btrfs_policy_balance_options *options, bool assumed)
{
	const char *why;
	int ret;

	if (assumed || btrfs_policy_fs_info(fs)->offline) {
		if (!btrfs_policy_enforced(fs, &why))
			warning("roles are not enforced, so this plan cannot be carried out: %s", why);
		return STATUS_OK;
	}
	ret = btrfs_policy_balance_check(fs, options);
	if (!ret || (ret == -EBUSY && !btrfs_policy_plan_summary(plan)->steps))
		return STATUS_OK;
	if (filesystem_status(ret) != STATUS_STATE)
		return filesystem_failed(fs, ret);
	warning("this plan cannot be carried out now: %s", btrfs_policy_fs_error(fs));
	return STATUS_STATE;
}

int balance_show_plan(const struct run *run, struct btrfs_policy_fs *fs, const char *name,
		      const struct btrfs_policy_balance_options *options, const char *assume)
{
	_cleanup_(placement) struct btrfs_policy_placement *placement = NULL;
	_cleanup_(plan) struct btrfs_policy_plan *plan = NULL;
	int status, ret = btrfs_policy_placement_read(fs, &placement);

	if (ret == 0 && assume)
		ret = btrfs_policy_placement_assume(fs, placement, assume);
	if (ret == 0 && options->only_draining)
		ret = btrfs_policy_placement_only_draining(fs, placement);
	if (ret == 0)
		ret = btrfs_policy_plan_new(fs, placement, options, &plan);
	if (ret)
		return filesystem_failed(fs, ret);
	if (run->json)
		print_json(fs, plan, name);
	else
		print_text(fs, plan);
	ret = btrfs_policy_plan_keeps_copies(fs, placement, plan);
	if (ret && filesystem_status(ret) != STATUS_STATE)
		return filesystem_failed(fs, ret);
	if (ret)
		warning("%s", btrfs_policy_fs_error(fs));
	status = check_run(fs, plan, options, assume);
	if (!status && !assume && !btrfs_policy_fs_info(fs)->offline)
		status = filesystem_status(ret);
	return status ? status : btrfs_policy_plan_blocked(plan) ? STATUS_NO_SPACE : STATUS_OK;
}
