/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far data and metadata can grow, as text and as JSON.  The library
 * computes it.
 */
#include <errno.h>

#include "cmds/cli/messages.h"
#include "cmds/outlook.h"
#include "cmds/handles.h"
#include "cmds/cli/records.h"

enum { DATA_USED, DATA_MORE, DATA_PROFILE, METADATA_USED, METADATA_MORE, METADATA_KEPT,
	METADATA_PROFILE, METADATA_PERCENT, METADATA_LITTLE, OUTLOOK_COLUMNS };

static const struct column outlook_columns[] = {
	[DATA_USED] = { "data-used", NULL, 0 },
	[DATA_MORE] = { "data-more", NULL, 0 },
	[DATA_PROFILE] = { "data-profile", NULL, 0 },
	[METADATA_USED] = { "metadata-used", NULL, 0 },
	[METADATA_MORE] = { "metadata-more", NULL, 0 },
	[METADATA_KEPT] = { "metadata-kept", NULL, 0 },
	[METADATA_PROFILE] = { "metadata-profile", NULL, 0 },
	[METADATA_PERCENT] = { "metadata-percent", NULL, 0 },
	[METADATA_LITTLE] = { "metadata-little", NULL, 0 },
};

json_object *outlook_json(const struct btrfs_policy_outlook *outlook)
{
	_cleanup_(records) struct records *records = records_new(outlook_columns, OUTLOOK_COLUMNS);
	struct cell *record = records_add(records);

	record_set_size(record, DATA_USED, outlook->data_used);
	record_set_size(record, DATA_MORE, outlook->data_more);
	record_set_text(record, DATA_PROFILE, outlook->data_profile);
	record_set_size(record, METADATA_USED, outlook->metadata_used);
	record_set_size(record, METADATA_MORE, outlook->metadata_more);
	record_set_size(record, METADATA_KEPT, outlook->metadata_kept);
	record_set_text(record, METADATA_PROFILE, outlook->metadata_profile);
	record_set_number(record, METADATA_PERCENT, outlook->metadata_percent);
	record_set_bool(record, METADATA_LITTLE, outlook->metadata_little);
	return records_json_object(records, 0);
}

void outlook_print(const struct btrfs_policy_outlook *outlook, bool would)
{
	char data[UNITS_TEXT], metadata[UNITS_TEXT];

	say(LEVEL_DEFAULT, "%s: %s more data (%s), or %s more metadata (%s)",
	    would ? "would fit" : "will fit",
	    units_format(outlook->data_more, &UNITS_DEFAULT, data), outlook->data_profile,
	    units_format(outlook->metadata_more, &UNITS_DEFAULT, metadata),
	    outlook->metadata_profile);
}

/* Whether devices that are not named could take a chunk is unknown. */
int outlook_blocked(struct btrfs_policy_fs *fs, const struct btrfs_policy_placement *placement,
		    char **why)
{
	_cleanup_(plan) struct btrfs_policy_plan *plan = NULL;
	const struct btrfs_policy_fs_info *info = btrfs_policy_fs_info(fs);
	const char *blocked;
	int ret = 0;

	*why = NULL;
	if (!btrfs_policy_placement_totals(placement)->misplaced_chunks ||
	    (info->offline && info->missing))
		return 0;
	if (info->read_only && !info->offline)
		ret = btrfs_policy_balance_check(fs, NULL);
	if (!ret)
		ret = btrfs_policy_plan_new(fs, placement, NULL, &plan);
	if (!ret)
		ret = btrfs_policy_plan_keeps_copies(fs, placement, plan);
	blocked = ret ? btrfs_policy_fs_error(fs) : btrfs_policy_plan_blocked(plan);
	*why = blocked ? xstrdup(blocked) : NULL;
	return ret == -EOPNOTSUPP || ret == -EROFS ? 0 : ret;
}

void outlook_warn(const struct btrfs_policy_outlook *outlook, bool would)
{
	uint64_t most = outlook->metadata_used + outlook->metadata_more;
	uint64_t all = outlook->data_used + outlook->data_more;
	char used[UNITS_TEXT], grown[UNITS_TEXT], data[UNITS_TEXT];

	if (!outlook->metadata_little)
		return;
	warning("metadata %s grow from %s to %s only, beside up to %s of data; when that is full, no file can be created: add a device that takes metadata, or let disks take it as data-preferred",
		would ? "could" : "can",
		units_format(outlook->metadata_used, &UNITS_DEFAULT, used),
		units_format(most, &UNITS_DEFAULT, grown),
		units_format(all, &UNITS_DEFAULT, data));
}
