/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `btrfs device policy usage`: the placement of data and metadata, and misplaced
 * chunks.  Reads only.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmds/bars.h"
#include "cmds/commands.h"
#include "cmds/handles.h"
#include "cmds/devices.h"
#include "cmds/cli/escape.h"
#include "cmds/filesystem.h"
#include "cmds/outlook.h"

/* A device for metadata with more than this allocated is worth a line. */
#define FILLING_PERCENT 75

/* Default percentage of its possible size at which metadata is nearly full. */
#define NEARLY_FULL_PERCENT 80

struct usage_args {
	struct units units;
	bool table;
	bool check;
	bool offline;
	bool all;
	bool no_bars;
	uint64_t threshold;
	const char *assume;
};

/* The data of one file system; pointers are NULL for parts that were not requested. */
struct view {
	struct btrfs_policy_placement *placement;
	const struct btrfs_policy_remaining_capacity *capacity;
	const struct btrfs_policy_outlook *outlook;
	const char *blocked;	/* the reason why misplaced chunks cannot be moved */
	uint64_t threshold;
};

enum { PROFILE_KIND, PROFILE_PROFILE, PROFILE_SIZE, PROFILE_USED, PROFILE_CHUNKS,
	PROFILE_MISPLACED_CHUNKS, PROFILE_MISPLACED_SIZE, PROFILE_MISPLACED_USED,
	PROFILE_COLUMNS };

static const struct column profile_columns[] = {
	[PROFILE_KIND] = { "kind", NULL, 0 },
	[PROFILE_PROFILE] = { "profile", NULL, 0 },
	[PROFILE_SIZE] = { "size", NULL, 0 },
	[PROFILE_USED] = { "used", NULL, 0 },
	[PROFILE_CHUNKS] = { "chunks", NULL, 0 },
	[PROFILE_MISPLACED_CHUNKS] = { "misplaced-chunks", NULL, 0 },
	[PROFILE_MISPLACED_SIZE] = { "misplaced-size", NULL, 0 },
	[PROFILE_MISPLACED_USED] = { "misplaced-used", NULL, 0 },
};

/* Four columns of bytes, four of misplaced bytes, four of chunks, in the order of the kinds. */
enum { DEVICE_ID, DEVICE_PATH, DEVICE_TYPE, DEVICE_ROTATIONAL, DEVICE_MISSING, DEVICE_ROLE,
	DEVICE_SIZE, DEVICE_BYTES,
	DEVICE_MISPLACED = DEVICE_BYTES + BTRFS_POLICY_KINDS,
	DEVICE_CHUNKS = DEVICE_MISPLACED + BTRFS_POLICY_KINDS,
	DEVICE_MISPLACED_ALL = DEVICE_CHUNKS + BTRFS_POLICY_KINDS,
	DEVICE_UNALLOCATED, DEVICE_COLUMNS };

static const struct column device_columns[] = {
	[DEVICE_ID] = { "devid", "Id", COLUMN_RIGHT | COLUMN_NO_BLOCK },
	[DEVICE_PATH] = { "path", "Path", COLUMN_NO_BLOCK },
	[DEVICE_TYPE] = { NULL, "Type", 0 },
	[DEVICE_ROTATIONAL] = { "rotational", NULL, 0 },
	[DEVICE_MISSING] = { "missing", NULL, 0 },
	[DEVICE_ROLE] = { "role", "Role", 0 },
	[DEVICE_SIZE] = { "size", "Size", COLUMN_RIGHT | COLUMN_NO_TABLE },
	{ "data-bytes", "Data", COLUMN_RIGHT | COLUMN_HIDE_EMPTY },
	{ "metadata-bytes", "Metadata", COLUMN_RIGHT | COLUMN_HIDE_EMPTY },
	{ "system-bytes", "System", COLUMN_RIGHT | COLUMN_HIDE_EMPTY },
	{ "mixed-bytes", "Data+Metadata", COLUMN_RIGHT | COLUMN_HIDE_EMPTY },
	{ "misplaced-data-bytes", "Misplaced data",
	  COLUMN_RIGHT | COLUMN_HIDE_EMPTY | COLUMN_NO_TABLE },
	{ "misplaced-metadata-bytes", "Misplaced metadata",
	  COLUMN_RIGHT | COLUMN_HIDE_EMPTY | COLUMN_NO_TABLE },
	{ "misplaced-system-bytes", "Misplaced system",
	  COLUMN_RIGHT | COLUMN_HIDE_EMPTY | COLUMN_NO_TABLE },
	{ NULL, NULL, 0 },
	{ "data-chunks", NULL, 0 },
	{ "metadata-chunks", NULL, 0 },
	{ "system-chunks", NULL, 0 },
	{ "mixed-chunks", NULL, 0 },
	[DEVICE_MISPLACED_ALL] = { NULL, "Misplaced", COLUMN_RIGHT | COLUMN_NO_BLOCK },
	[DEVICE_UNALLOCATED] = { "unallocated", "Unallocated", COLUMN_RIGHT },
};

enum { TOTAL_CHUNKS, TOTAL_MISPLACED, TOTAL_SIZE, TOTAL_USED, TOTAL_BLOCKED,
	TOTAL_COLUMNS };

static const struct column total_columns[] = {
	[TOTAL_CHUNKS] = { "chunks", NULL, 0 },
	[TOTAL_MISPLACED] = { "misplaced-chunks", NULL, 0 },
	[TOTAL_SIZE] = { "misplaced-size", NULL, 0 },
	[TOTAL_USED] = { "misplaced-used", NULL, 0 },
	[TOTAL_BLOCKED] = { "blocked", NULL, 0 },
};

enum { CAPACITY_DATA, CAPACITY_DATA_PROFILE, CAPACITY_METADATA, CAPACITY_METADATA_PROFILE,
	CAPACITY_DEGRADED, CAPACITY_LOST, CAPACITY_COLUMNS };

static const struct column capacity_columns[] = {
	[CAPACITY_DATA] = { "data", NULL, 0 },
	[CAPACITY_DATA_PROFILE] = { "data-profile", NULL, 0 },
	[CAPACITY_METADATA] = { "metadata", NULL, 0 },
	[CAPACITY_METADATA_PROFILE] = { "metadata-profile", NULL, 0 },
	[CAPACITY_DEGRADED] = { "degraded-chunks", NULL, 0 },
	[CAPACITY_LOST] = { "lost-chunks", NULL, 0 },
};

static struct records *read_profiles(const struct btrfs_policy_placement *placement)
{
	struct records *records = records_new(profile_columns, PROFILE_COLUMNS);
	const struct btrfs_policy_profile_usage *row;

	for (size_t i = 0; (row = btrfs_policy_placement_profile(placement, i)); i++) {
		struct cell *record = records_add(records);

		record_set_text(record, PROFILE_KIND, btrfs_policy_kind_name(row->kind));
		record_set_text(record, PROFILE_PROFILE, row->profile);
		record_set_size(record, PROFILE_SIZE, row->size);
		record_set_size(record, PROFILE_USED, row->used);
		record_set_number(record, PROFILE_CHUNKS, row->chunks);
		record_set_number(record, PROFILE_MISPLACED_CHUNKS, row->misplaced_chunks);
		record_set_size(record, PROFILE_MISPLACED_SIZE, row->misplaced_size);
		record_set_size(record, PROFILE_MISPLACED_USED, row->misplaced_used);
	}
	return records;
}

/* Sums of a device; zeros stay empty in text, see print_devices(). */
static void set_device(struct cell *record, const struct btrfs_policy_device_usage *row,
		       bool json)
{
	uint64_t misplaced = 0;

	for (int kind = 0; kind < BTRFS_POLICY_KINDS; kind++) {
		bool plain = kind != BTRFS_POLICY_KIND_MIXED;

		if (json || plain || row->bytes[kind])
			record_set_size(record, DEVICE_BYTES + kind, row->bytes[kind]);
		if (json || row->misplaced_bytes[kind])
			record_set_size(record, DEVICE_MISPLACED + kind,
					row->misplaced_bytes[kind]);
		record_set_number(record, DEVICE_CHUNKS + kind, row->chunks[kind]);
		misplaced += row->misplaced_bytes[kind];
	}
	record_set_text(record, DEVICE_ROLE, btrfs_policy_role_name(row->role));
	record_set_size(record, DEVICE_SIZE, row->size);
	record_set_size(record, DEVICE_MISPLACED_ALL, misplaced);
	record_set_size(record, DEVICE_UNALLOCATED, row->unallocated);
}

static struct records *read_devices(const struct btrfs_policy_fs *fs,
				    const struct btrfs_policy_placement *placement, bool json)
{
	struct records *records = records_new(device_columns, DEVICE_COLUMNS);
	const struct btrfs_policy_device_usage *row;

	for (size_t i = 0; (row = btrfs_policy_placement_device(placement, i)); i++) {
		const struct btrfs_policy_device *device =
			btrfs_policy_device_find(fs, row->devid);
		struct cell *record = records_add(records);

		record_set_number(record, DEVICE_ID, row->devid);
		record_set_bool(record, DEVICE_MISSING, device && device->missing);
		if (device) {
			record_set_text(record, DEVICE_PATH, device->path);
			record_set_text(record, DEVICE_TYPE, device_type(device));
			record_set_tristate(record, DEVICE_ROTATIONAL, device->rotational);
		}
		set_device(record, row, json);
	}
	return records;
}

static json_object *totals_json(const struct btrfs_policy_totals *totals, const char *blocked)
{
	_cleanup_(records) struct records *records = records_new(total_columns, TOTAL_COLUMNS);
	struct cell *record = records_add(records);

	record_set_number(record, TOTAL_CHUNKS, totals->chunks);
	record_set_number(record, TOTAL_MISPLACED, totals->misplaced_chunks);
	record_set_size(record, TOTAL_SIZE, totals->misplaced_size);
	record_set_size(record, TOTAL_USED, totals->misplaced_used);
	record_set_text(record, TOTAL_BLOCKED, blocked);
	return records_json_object(records, 0);
}

static json_object *capacity_json(const struct btrfs_policy_remaining_capacity *capacity)
{
	_cleanup_(records) struct records *records = records_new(capacity_columns, CAPACITY_COLUMNS);
	struct cell *record = records_add(records);

	record_set_size(record, CAPACITY_DATA, capacity->data);
	record_set_text(record, CAPACITY_DATA_PROFILE, capacity->data_profile);
	record_set_size(record, CAPACITY_METADATA, capacity->metadata);
	record_set_text(record, CAPACITY_METADATA_PROFILE, capacity->metadata_profile);
	record_set_number(record, CAPACITY_DEGRADED, capacity->degraded_chunks);
	record_set_number(record, CAPACITY_LOST, capacity->lost_chunks);
	return records_json_object(records, 0);
}

static bool nearly_full(const struct view *view)
{
	return view->outlook && view->outlook->metadata_percent >= view->threshold;
}

static json_object *usage_json(const struct btrfs_policy_fs *fs, const struct view *view,
			       bool check)
{
	const struct btrfs_policy_placement *placement = view->placement;
	_cleanup_(records) struct records *profiles = read_profiles(placement);
	_cleanup_(records) struct records *devices = read_devices(fs, placement, true);
	json_object *object = filesystem_json(fs), *outlook = NULL;

	filesystem_add_enforced(fs, object);
	json_object_object_add(object, "profiles", records_json_array(profiles));
	json_object_object_add(object, "devices", records_json_array(devices));
	json_object_object_add(object, "totals",
			       totals_json(btrfs_policy_placement_totals(placement), view->blocked));
	if (view->capacity)
		json_object_object_add(object, "would-fit", capacity_json(view->capacity));
	/* null for mixed block groups, where metadata has no space of its own */
	if (view->outlook) {
		outlook = outlook_json(view->outlook);
		json_object_object_add(outlook, "threshold-percent",
				       json_object_new_uint64(view->threshold));
		json_object_object_add(outlook, "metadata-nearly-full",
				       json_object_new_boolean(nearly_full(view)));
	}
	if (check)
		json_object_object_add(object, "outlook", outlook);
	return object;
}

static void print_profiles(const struct btrfs_policy_placement *placement,
			   const struct units *units)
{
	const struct btrfs_policy_profile_usage *row;
	char size[UNITS_TEXT], used[UNITS_TEXT], misplaced[UNITS_TEXT];

	for (size_t i = 0; (row = btrfs_policy_placement_profile(placement, i)); i++)
		printf("%s,%s: Size:%s, Used:%s (%.2f%%), Misplaced:%s (%.2f%%)\n",
		       btrfs_policy_kind_name(row->kind), row->profile,
		       units_format(row->size, units, size), units_format(row->used, units, used),
		       row->size ? 100.0 * row->used / row->size : 0.0,
		       units_format(row->misplaced_size, units, misplaced),
		       row->size ? 100.0 * row->misplaced_size / row->size : 0.0);
}

static void add_total(struct records *records, const struct btrfs_policy_placement *placement)
{
	struct btrfs_policy_device_usage sum = {};
	const struct btrfs_policy_device_usage *row;
	struct cell *record;

	for (size_t i = 0; (row = btrfs_policy_placement_device(placement, i)); i++) {
		sum.unallocated += row->unallocated;
		for (int kind = 0; kind < BTRFS_POLICY_KINDS; kind++) {
			sum.bytes[kind] += row->bytes[kind];
			sum.misplaced_bytes[kind] += row->misplaced_bytes[kind];
		}
	}
	record = records_add(records);
	set_device(record, &sum, false);
	record_set_text(record, DEVICE_PATH, "Total");
	record_clear_cell(record, DEVICE_ROLE);
	records_mark_total(records);
}

static void print_devices(const struct btrfs_policy_fs *fs,
			  const struct btrfs_policy_placement *placement,
			  const struct usage_args *args)
{
	_cleanup_(records) struct records *devices = read_devices(fs, placement, false);

	if (args->table) {
		add_total(devices, placement);
		putchar('\n');
		records_print_table(devices, &args->units);
		return;
	}
	for (int i = 0; i < records_count(devices); i++) {
		uint64_t devid = btrfs_policy_placement_device(placement, i)->devid;
		const struct btrfs_policy_device *device = btrfs_policy_device_find(fs, devid);
		const char *path = !device ? "assumed" : device->path ? device->path : "missing";

		device_print_heading(devid, path);
		records_print_block(devices, i, 0, &args->units);
	}
}

/* Assumed values are marked as such. */
static void print_totals(const struct btrfs_policy_fs *fs, const struct view *view,
			 const struct units *units)
{
	const struct btrfs_policy_totals *totals = btrfs_policy_placement_totals(view->placement);
	const char *mount = btrfs_policy_fs_info(fs)->mount_point;
	_cleanup_free_ char *path = mount ? xcheck(escape_shell(mount)) : xstrdup("<path>");
	bool one = totals->misplaced_chunks == 1, assumed = view->capacity;
	bool would = assumed || !btrfs_policy_enforced(fs, NULL);
	char count[UNITS_TEXT], size[UNITS_TEXT], used[UNITS_TEXT];

	say(LEVEL_DEFAULT, "%s", "");
	units_count(totals->chunks, "chunk", count);
	if (totals->misplaced_chunks == 0) {
		say(LEVEL_DEFAULT, "None of %s %s misplaced", count, assumed ? "would be" : "is");
		return;
	}
	units_format(totals->misplaced_size, units, size);
	units_format(totals->misplaced_used, units, used);
	if (view->blocked)
		say(LEVEL_DEFAULT, "%" PRIu64 " of %s %s misplaced (%s, %s used), and cannot be moved now: %s",
		    totals->misplaced_chunks, count, one ? "is" : "are", size, used, view->blocked);
	else
		say(LEVEL_DEFAULT, "%" PRIu64 " of %s %s misplaced (%s, %s used); "
		    "'btrfs balance --preferred-metadata %s' %s %s%s", totals->misplaced_chunks,
		    count, assumed ? "would be" : one ? "is" : "are", size, used, path,
		    would ? "would move" : "moves", one ? "it" : "them",
		    would && !assumed ? " with a kernel that obeys roles" : "");
}

static bool prefers_metadata(const struct btrfs_policy_device_usage *row)
{
	return row->role == BTRFS_POLICY_ROLE_METADATA_PREFERRED ||
	       row->role == BTRFS_POLICY_ROLE_METADATA_ONLY;
}

/* Devices that prefer metadata and have little left for it: full is too late to hear of it. */
static void print_filling(const struct btrfs_policy_fs *fs,
			  const struct btrfs_policy_placement *placement)
{
	const struct btrfs_policy_device_usage *row;

	for (size_t i = 0; (row = btrfs_policy_placement_device(placement, i)); i++) {
		const struct btrfs_policy_device *device = btrfs_policy_device_find(fs, row->devid);
		uint64_t bytes = 0;
		double percent;

		if (device && device->missing)
			continue;
		/* A device that is assumed lost has no space, but is not full. */
		for (int kind = 0; kind < BTRFS_POLICY_KINDS; kind++)
			bytes += row->bytes[kind] - row->misplaced_bytes[kind];
		if (bytes > row->size)
			bytes = row->size;	/* it is being made smaller */
		percent = row->size ? 100.0 * bytes / row->size : 0.0;
		if (prefers_metadata(row) && percent > FILLING_PERCENT)
			say(LEVEL_DEFAULT, "devid %" PRIu64 " (%s) is %.2f%% allocated; add a device for metadata before it is full",
			    row->devid, btrfs_policy_role_name(row->role), percent);
	}
}

/* With one SSD for RAID1 nothing is misplaced, and yet each commit waits for a hard disk. */
static void print_copies(const struct btrfs_policy_placement *placement)
{
	const struct btrfs_policy_device_usage *device;
	const struct btrfs_policy_profile_usage *row;
	uint32_t prefer = 0;

	for (size_t i = 0; (device = btrfs_policy_placement_device(placement, i)); i++)
		prefer += prefers_metadata(device) && device->size;
	for (size_t i = 0; prefer && (row = btrfs_policy_placement_profile(placement, i)); i++) {
		if (row->kind != BTRFS_POLICY_KIND_METADATA || prefer >= row->devices_min)
			continue;
		say(LEVEL_DEFAULT, "Metadata is %s, for %u devices, and %u %s it: "
		    "commits wait for the others, which hold the rest of it",
		    row->profile, row->devices_min, prefer, prefer == 1 ? "prefers" : "prefer");
	}
}

static void print_capacity(const struct btrfs_policy_remaining_capacity *capacity,
			   const struct units *units)
{
	char data[UNITS_TEXT], metadata[UNITS_TEXT];

	printf("\nWould fit: %s more data (%s), or %s more metadata (%s)\n",
	       units_format(capacity->data, units, data), capacity->data_profile,
	       units_format(capacity->metadata, units, metadata), capacity->metadata_profile);
	if (capacity->degraded_chunks || capacity->lost_chunks)
		printf("Chunks:    %" PRIu64 " would miss a device, %" PRIu64
		       " would be lost\n", capacity->degraded_chunks, capacity->lost_chunks);
}

static void print_outlook(const struct view *view, const struct units *units)
{
	const struct btrfs_policy_outlook *outlook = view->outlook;
	char used[UNITS_TEXT], most[UNITS_TEXT];

	say(LEVEL_DEFAULT, "Metadata %suses %s of the %s that it can have (%u%%)%s",
	    nearly_full(view) ? "is nearly full: it " : "",
	    units_format(outlook->metadata_used, units, used),
	    units_format(outlook->metadata_used + outlook->metadata_more, units, most),
	    outlook->metadata_percent, nearly_full(view) ?
	    "; add a device that takes metadata, or free space on those that do" : "");
}

static void print_text(const struct btrfs_policy_fs *fs, const struct view *view,
		       const struct usage_args *args)
{
	const struct btrfs_policy_placement *placement = view->placement;
	const struct btrfs_policy_remaining_capacity *capacity = view->capacity;
	_cleanup_free_ char *enforced = filesystem_enforced(fs);
	_cleanup_free_ char *shown = xcheck(escape_text(enforced));

	filesystem_print_heading(fs);
	printf("Enforced: %s\n\n", shown);
	print_profiles(placement, &args->units);
	print_devices(fs, placement, args);
	if (!args->no_bars)
		bars_print(placement);
	if (capacity)
		print_capacity(capacity, &args->units);
	print_totals(fs, view, &args->units);
	if (view->outlook)
		print_outlook(view, &args->units);
	print_copies(placement);
	print_filling(fs, placement);
}

/* ---- One file system, or all -------------------------------------------- */

/* @object is NULL or receives the JSON. */
static int show_one(const struct run *run, struct btrfs_policy_fs *fs, json_object **object)
{
	_cleanup_(placement) struct btrfs_policy_placement *placement = NULL;
	const struct usage_args *args = run->args;
	_cleanup_free_ char *blocked = NULL;
	struct btrfs_policy_outlook outlook;
	struct btrfs_policy_remaining_capacity capacity;
	struct view view = {
		.threshold = args->threshold ? args->threshold : NEARLY_FULL_PERCENT,
	};
	int ret = btrfs_policy_placement_read(fs, &placement);
	bool unknown;

	if (!ret && args->assume)
		ret = btrfs_policy_placement_assume(fs, placement, args->assume);
	if (!ret && args->assume)
		ret = btrfs_policy_placement_capacity(fs, placement, &capacity);
	if (!ret && !args->assume)
		ret = outlook_blocked(fs, placement, &blocked);
	view.placement = placement;
	view.blocked = blocked;
	view.capacity = args->assume ? &capacity : NULL;
	if (!ret && args->check && !btrfs_policy_fs_info(fs)->mixed) {
		ret = btrfs_policy_placement_outlook(fs, placement, false, &outlook);
		view.outlook = &outlook;
	}
	if (ret)
		return filesystem_failed(fs, ret);
	if (object)
		*object = usage_json(fs, &view, args->check);
	else if (!args->check || messages_at(LEVEL_DEFAULT))
		print_text(fs, &view, args);
	if (!args->check)
		return STATUS_OK;
	unknown = btrfs_policy_fs_info(fs)->offline && btrfs_policy_fs_info(fs)->missing;
	return (unknown ? STATUS_FAILURE : STATUS_OK) |
	       (nearly_full(&view) ? STATUS_METADATA_FULL : 0) |
	       (btrfs_policy_placement_totals(placement)->misplaced_chunks ? STATUS_MISPLACED : 0);
}

/* Bits of all of them, and of the statuses without bits the worst. */
static int join(int status, int one)
{
	const int bits = STATUS_METADATA_FULL | STATUS_MISPLACED;
	int low = (status & ~bits) > (one & ~bits) ? status & ~bits : one & ~bits;

	return low | ((status | one) & bits);
}

static int show_all(const struct run *run)
{
	const struct usage_args *args = run->args;
	_cleanup_(fs) struct btrfs_policy_fs *list = xcheck(btrfs_policy_fs_new());
	_cleanup_(strv) char **mounts = NULL;
	int status = STATUS_OK, ret = btrfs_policy_mounts(list, &mounts);
	json_object *array;

	if (ret)
		return filesystem_failed(list, ret);
	array = run->json ? json_object_new_array() : NULL;
	for (char **mount = mounts; *mount; mount++) {
		_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
		json_object *object = NULL;
		int one = filesystem_open(*mount, &fs);

		if (mount != mounts && !array)
			say(LEVEL_DEFAULT, "%s", "");
		if (!one)
			one = show_one(run, fs, array ? &object : NULL);
		if (object)
			json_object_array_add(array, object);
		status = join(status, one);
	}
	if (array)
		json_print_document("device-policy-usage", array);
	if (args->check && !*mounts) {
		error("cannot check: no btrfs is mounted; mount it, or name its path");
		return STATUS_FAILURE;
	}
	return status;
}

static int check_words(const struct run *run)
{
	const struct usage_args *args = run->args;

	if (run->count > 1 && !args->offline)
		error("more than one path given; only --offline takes several, all of one file system");
	else if (args->all && (run->count || args->offline || args->assume))
		error("--all takes no path, --offline or --assume");
	else if (args->threshold && (!args->check || args->threshold > 100))
		error("--threshold goes with --check and takes a percentage from 1 to 100");
	else
		return STATUS_OK;
	return STATUS_FAILURE;
}

static int cmd_device_policy_usage(const struct run *run)
{
	const struct usage_args *args = run->args;
	_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
	json_object *object = NULL;
	int status = check_words(run);

	if (!status && args->all)
		return show_all(run);
	if (!status)
		status = args->offline ? filesystem_open_offline(run->words, run->count, &fs) :
					 filesystem_open(run->words[0], &fs);
	if (!status)
		status = show_one(run, fs, run->json ? &object : NULL);
	if (object)
		json_print_document("device-policy-usage", object);
	return status;
}

static const struct option_row usage_options[] = {
	{ .kind = OPTION_FLAG, .letter = 'c', .name = "check",
	  .offset = offsetof(struct usage_args, check),
	  .help = "add 64 to the exit status if anything is misplaced, 32 if "
		  "metadata is nearly full" },
	{ .kind = OPTION_NUMBER, .name = "threshold", .argument = "PERCENT",
	  .offset = offsetof(struct usage_args, threshold),
	  .help = "with -c: set the share of the metadata capacity that is nearly full "
		  "(default 80)" },
	{ .kind = OPTION_FLAG, .name = "all", .offset = offsetof(struct usage_args, all),
	  .help = "show all mounted btrfs file systems" },
	{ .kind = OPTION_TEXT, .name = "assume", .argument = "WHAT",
	  .offset = offsetof(struct usage_args, assume),
	  .help = "simulate <role>=<device>,..., {data|metadata|system}=<profile>, "
		  "add=<size>[:<role>] or lose=<device>, and show what would fit" },
	{ .kind = OPTION_FLAG, .letter = 'T', .offset = offsetof(struct usage_args, table),
	  .help = "show devices in tabular format" },
	{ .kind = OPTION_FLAG, .name = "no-bars", .offset = offsetof(struct usage_args, no_bars),
	  .help = "do not draw a bar for each device" },
	{ .kind = OPTION_FLAG, .name = "offline", .offset = offsetof(struct usage_args, offline),
	  .help = "read a file system that is not mounted, from its devices or images" },
	OPTION_UNIT_ROWS(offsetof(struct usage_args, units)),
	OPTIONS_END
};

static const char *const usage_details[] = {
	"Show how much data, metadata and system each device holds, and how much of",
	"it is misplaced: on a device whose role excludes it, or on a second-choice",
	"device while first-choice devices could hold it. Works on kernels that",
	"ignore roles too, by the roles on disk. Needs CAP_SYS_ADMIN. With --offline",
	"all paths are devices or images of one file system; else there is one.",
	NULL
};

const struct command device_policy_usage_command = {
	.token = "usage",
	.synopsis = "[options] [<path>...]",
	.summary = "Show where data and metadata are and what is misplaced",
	.details = usage_details,
	.options = usage_options,
	.args_size = sizeof(struct usage_args),
	.max_words = ANY_NUMBER,
	.run = cmd_device_policy_usage,
};
