/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the one table of settings and reading them.  Their grammars are in
 * values.c, changing them in apply.c; both go by the rows here.
 */
#include <string.h>

#include "settings/settings.h"

/* A boot loader reads one device, maybe one whose superblock lags when the machine crashes. */
static int check_boot(struct btrfs_policy_fs *fs, const char *value)
{
	bool boots = false;
	int ret = strcmp(value, "yes") ? 0 : fs->ops->boots(fs->backend, &boots);

	if (ret)
		return bp_failed(fs, ret, "cannot see whether /boot is on '%s'", fs->mount_point);
	if (!boots)
		return 0;
	bp_error(fs, 0, "cannot let superblocks of '%s' lag: /boot is there, and after a crash a boot loader may read an old state; give /boot another file system",
		 fs->mount_point);
	return bp_hint(fs, -EINVAL, BTRFS_POLICY_HINT_FORCE);
}

static const struct bp_setting settings[] = {
	{
		.pub = { "read-policy", "read policy", BTRFS_POLICY_SCOPE_FS,
			 "read_policies/policy", "<name>[:<parameter>]",
			 "how reads of mirrored chunks are spread over their devices",
			 "read-policy" },
		.parse = bp_parse_choice,
		.to_file = bp_file_same,
		.from_file = bp_value_choice,
	},
	{
		.pub = { "rot-penalty", "rotational penalty", BTRFS_POLICY_SCOPE_FS,
			 "read_policies/roundrobin_rot_nonlocal_inc", "0..1000",
			 "extra cost of a non-sequential read on a rotational device",
			 "penalties" },
		.parse = bp_parse_penalty,
		.to_file = bp_file_same,
		.from_file = bp_value_number,
	},
	{
		.pub = { "nonrot-penalty", "non-rotational penalty", BTRFS_POLICY_SCOPE_FS,
			 "read_policies/roundrobin_nonrot_nonlocal_inc", "0..1000",
			 "extra cost of a non-sequential read on a non-rotational device",
			 "penalties" },
		.parse = bp_parse_penalty,
		.to_file = bp_file_same,
		.from_file = bp_value_number,
	},
	{
		.pub = { "penalty-mixed-only", "penalties only in mixed arrays",
			 BTRFS_POLICY_SCOPE_FS,
			 "read_policies/roundrobin_nonlocal_inc_mixed_only", "yes|no",
			 "count penalties only where rotational and other devices are mixed",
			 "penalties" },
		.parse = bp_parse_bool,
		.to_file = bp_file_bool,
		.from_file = bp_value_bool,
	},
	{
		.pub = { "readahead", "readahead", BTRFS_POLICY_SCOPE_FS, "bdi/read_ahead_kb",
			 "<bytes>[K|M|G]", "how far the file system reads ahead", "readahead",
			 .is_size = true },
		.parse = bp_parse_readahead,
		.to_file = bp_file_readahead,
		.from_file = bp_value_readahead,
	},
	{
		.pub = { "lagging-superblocks", "lagging superblocks", BTRFS_POLICY_SCOPE_FS,
			 "allocation/lagging_superblocks", "yes|no",
			 "leave devices without metadata out of commits",
			 "lagging-superblocks" },
		.parse = bp_parse_bool,
		.to_file = bp_file_bool,
		.from_file = bp_value_bool,
		.check = check_boot,
	},
	{
		.pub = { "role", "role", BTRFS_POLICY_SCOPE_DEVICE, BP_FILE_ROLE,
			 "data-preferred|metadata-preferred|data-only|metadata-only",
			 "role of the device in chunk allocation", "roles-set" },
		.parse = bp_parse_role,
	},
};

BP_PUBLIC const struct btrfs_policy_setting *btrfs_policy_setting_at(size_t index)
{
	return index < BP_ARRAY_SIZE(settings) ? &settings[index].pub : NULL;
}

const struct bp_setting *bp_setting_find(const char *name)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(settings); i++)
		if (!strcmp(settings[i].pub.name, name))
			return &settings[i];
	return NULL;
}

BP_PUBLIC const struct btrfs_policy_setting *btrfs_policy_setting_find(const char *name)
{
	const struct bp_setting *setting = bp_setting_find(name);

	return setting ? &setting->pub : NULL;
}

static int unknown_setting(struct btrfs_policy_fs *fs, const char *name)
{
	bp_error(fs, -EINVAL, "there is no setting '%s'; settings are:", name);
	for (size_t i = 0; i < BP_ARRAY_SIZE(settings); i++)
		bp_error_more(fs, 0, "%s %s", i ? "," : "", settings[i].pub.name);
	return -EINVAL;
}

/*
 * Kernels without our series have the read policy in one place only; the file
 * that was found is the one to use.
 */
int bp_setting_file(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		    const char **file)
{
	const struct btrfs_policy_capability *row;
	_cleanup_free_ char *what = bp_format("read or change the %s", setting->pub.title);
	int ret;

	if (!what)
		return bp_nomem(fs);
	ret = bp_need(fs, setting->pub.capability, what);
	if (ret)
		return ret;
	*file = setting->pub.file;
	if (strcmp(setting->pub.name, "read-policy"))
		return 0;
	row = btrfs_policy_capability_find(fs, setting->pub.capability);
	if (!strstr(row->file, *file))
		*file = "read_policy";
	return 0;
}

int bp_setting_check_device(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
			    uint64_t devid)
{
	const char *title = setting->pub.title;

	if (setting->pub.scope == BTRFS_POLICY_SCOPE_FS) {
		if (!devid)
			return 0;
		return bp_error(fs, -EINVAL,
				"the %s belongs to the file system, not to device %llu", title,
				(unsigned long long)devid);
	}
	if (!devid)
		return bp_error(fs, -EINVAL, "the %s belongs to a device; name one", title);
	if (!bp_device_find(fs, devid))
		return bp_error(fs, -ENODEV, "'%s' has no device with devid %llu",
				fs->mount_point, (unsigned long long)devid);
	return 0;
}

static int read_text(struct btrfs_policy_fs *fs, const struct bp_setting *setting, char **text)
{
	const char *file;
	int ret = bp_setting_file(fs, setting, &file);

	return ret ? ret : bp_sysfs_read(fs, file, 0, text);
}

int bp_setting_read(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		    uint64_t devid, char **value)
{
	_cleanup_free_ char *text = NULL;
	enum btrfs_policy_role role;
	int ret;

	if (setting->pub.scope == BTRFS_POLICY_SCOPE_DEVICE) {
		role = bp_device_find(fs, devid)->pub.role;
		if (role == BTRFS_POLICY_ROLE_UNKNOWN)
			return bp_error(fs, -EPERM,
					"cannot read the role of device %llu of '%s': reading it from the chunk tree needs root",
					(unsigned long long)devid, fs->mount_point);
		*value = strdup(btrfs_policy_role_name(role));
		return *value ? 0 : bp_nomem(fs);
	}
	ret = read_text(fs, setting, &text);
	if (ret)
		return ret;
	ret = setting->from_file(text, value);
	if (ret == -ENOMEM)
		return bp_nomem(fs);
	if (ret)
		return bp_error(fs, -EUCLEAN, "the kernel shows '%s' as the %s of '%s'", text,
				setting->pub.title, fs->mount_point);
	return 0;
}

BP_PUBLIC int btrfs_policy_setting_get(struct btrfs_policy_fs *fs, const char *name,
				       uint64_t devid, char **value)
{
	const struct bp_setting *setting = bp_setting_find(name);
	int ret;

	if (!fs->open)
		return bp_not_open(fs);
	if (!setting)
		return unknown_setting(fs, name);
	ret = bp_setting_check_device(fs, setting, devid);
	return ret ? ret : bp_setting_read(fs, setting, devid, value);
}

BP_PUBLIC int btrfs_policy_setting_values(struct btrfs_policy_fs *fs, const char *name,
					  char ***values)
{
	const struct bp_setting *setting = bp_setting_find(name);
	_cleanup_free_ char *text = NULL;
	const char *grammar;
	int ret;

	if (!fs->open)
		return bp_not_open(fs);
	if (!setting)
		return unknown_setting(fs, name);
	if (setting->from_file == bp_value_choice) {
		ret = read_text(fs, setting, &text);
		if (ret)
			return ret;
	} else {
		/* "a|b|c" of a grammar; anything else has no fixed words. */
		grammar = setting->pub.grammar;
		text = strdup(strchr(grammar, '|') && *grammar != '<' ? grammar : "");
		if (!text)
			return bp_nomem(fs);
		for (char *p = text; *p; p++)
			*p = *p == '|' ? ' ' : *p;
	}
	return bp_choice_words(text, values) ? bp_nomem(fs) : 0;
}
