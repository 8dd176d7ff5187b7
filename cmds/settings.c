/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Table of settings -> records.  A setting is shown as the kernel has it now; a
 * kernel without it gives an empty cell, never a default.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/handles.h"
#include "cmds/filesystem.h"
#include "cmds/settings.h"

static const struct column setting_columns[] = {
	[SETTING_NAME] = { "name", "Setting", 0 },
	[SETTING_SCOPE] = { "scope", "Scope", 0 },
	[SETTING_VALUE] = { "value", NULL, 0 },
	[SETTING_SHOWN] = { NULL, "Value", 0 },
	[SETTING_VALUES] = { "values", NULL, 0 },
	[SETTING_GRAMMAR] = { "grammar", NULL, 0 },
	[SETTING_POSSIBLE] = { NULL, "Possible values", 0 },
	[SETTING_AVAILABLE] = { "available", NULL, 0 },
	[SETTING_HELP] = { "help", NULL, 0 },
};

char *setting_shown(const struct btrfs_policy_setting *setting, const char *value,
		    const struct units *units)
{
	char text[UNITS_TEXT];

	if (!setting->is_size)
		return xstrdup(value);
	return xstrdup(units_format(strtoull(value, NULL, 10), units, text));
}

char *setting_word(const struct btrfs_policy_setting *setting, const char *value)
{
	uint64_t number = strtoull(value, NULL, 10);
	const char *suffix = "KMG";

	if (!setting->is_size || !number || number % 1024)
		return xstrdup(value);
	number /= 1024;
	for (; number % 1024 == 0 && suffix[1]; number /= 1024)
		suffix++;
	return xasprintf("%" PRIu64 "%c", number, *suffix);
}

static int read_values(struct btrfs_policy_fs *fs, const struct btrfs_policy_setting *setting,
		       struct cell *record)
{
	_cleanup_(strv) char **values = NULL;
	int ret = btrfs_policy_setting_values(fs, setting->name, &values);

	if (ret == 0)
		record_set_list(record, SETTING_VALUES, values);
	if (ret == 0 && values[0])
		record_set_list(record, SETTING_POSSIBLE, values);
	else
		record_set_text(record, SETTING_POSSIBLE, setting->grammar);
	return ret == -EOPNOTSUPP ? 0 : ret;
}

static int add_setting(struct btrfs_policy_fs *fs, const struct btrfs_policy_setting *setting,
		       struct records *records)
{
	const struct btrfs_policy_capability *capability =
		btrfs_policy_capability_find(fs, setting->capability);
	struct cell *record = records_add(records);
	_cleanup_free_ char *value = NULL;
	int ret = -EOPNOTSUPP;

	record_set_text(record, SETTING_NAME, setting->name);
	record_set_text(record, SETTING_SCOPE,
			setting->scope == BTRFS_POLICY_SCOPE_FS ? "filesystem" : "device");
	record_set_text(record, SETTING_GRAMMAR, setting->grammar);
	record_set_text(record, SETTING_HELP, setting->help);
	record_set_bool(record, SETTING_AVAILABLE, capability && capability->available);
	if (setting->scope == BTRFS_POLICY_SCOPE_FS)
		ret = btrfs_policy_setting_get(fs, setting->name, 0, &value);
	if (ret && ret != -EOPNOTSUPP)
		return ret;
	record_set_value(record, SETTING_VALUE, value);
	if (value && setting->is_size)
		record_set_size(record, SETTING_SHOWN, strtoull(value, NULL, 10));
	else
		record_set_text(record, SETTING_SHOWN, value);
	return read_values(fs, setting, record);
}

int settings_read(struct btrfs_policy_fs *fs, bool devices, struct records **records)
{
	const struct btrfs_policy_setting *setting;
	int ret;

	*records = records_new(setting_columns, SETTING_COLUMNS);
	for (size_t i = 0; (setting = btrfs_policy_setting_at(i)); i++) {
		if (setting->scope == BTRFS_POLICY_SCOPE_DEVICE && !devices)
			continue;
		ret = add_setting(fs, setting, *records);
		if (ret)
			return filesystem_failed(fs, ret);
	}
	return 0;
}
