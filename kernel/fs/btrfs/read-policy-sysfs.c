// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which read policy is set, and its settings: names and values as text, in sysfs, as
 * a mount option and as a module parameter.  What a policy does is not known here,
 * only what has to be in place before it is used.
 */

#include <linux/module.h>
#include <linux/seq_file.h>
#include "fs.h"
#include "read-policy-speed.h"

/* Room for a choice as text: the longest name, a colon and a number. */
#define POLICY_TEXT	40
/* A penalty above four seconds is none but a mistake. */
#define PENALTY_MAX	1000

static const char * const btrfs_read_policy_name[] = {
	[BTRFS_READ_POLICY_PID]		= "pid",
#ifdef CONFIG_BTRFS_EXPERIMENTAL
	[BTRFS_READ_POLICY_RR]		= "round-robin",
	[BTRFS_READ_POLICY_DEVID]	= "devid",
#endif
	[BTRFS_READ_POLICY_ROUNDROBIN]	= "roundrobin",
};

static_assert(ARRAY_SIZE(btrfs_read_policy_name) == BTRFS_NR_READ_POLICY);

/* The policy of filesystems whose mount options name none: pid, until it is set. */
static struct btrfs_read_policy_choice btrfs_read_policy_default;

/* Serializes changes of the policy, whose state is in more than one place. */
static DEFINE_MUTEX(btrfs_read_policy_mutex);

/* The value in use, or that would be if the policy was set; 0 if it has none. */
static u64 btrfs_read_policy_value(const struct btrfs_fs_devices *fs_devices, int policy)
{
#ifdef CONFIG_BTRFS_EXPERIMENTAL
	if (policy == BTRFS_READ_POLICY_RR)
		return READ_ONCE(fs_devices->rr_min_contig_read);
	if (policy == BTRFS_READ_POLICY_DEVID)
		return READ_ONCE(fs_devices->read_devid);
#endif
	return 0;
}

#ifdef CONFIG_BTRFS_EXPERIMENTAL
static int btrfs_read_policy_set_devid(struct btrfs_fs_info *fs_info, u64 devid)
{
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;
	struct btrfs_dev_lookup_args args = BTRFS_DEV_LOOKUP_ARGS_INIT;

	guard(mutex)(&fs_devices->device_list_mutex);
	args.devid = devid ? devid : fs_devices->latest_dev->devid;
	if (!btrfs_find_device(fs_devices, &args))
		return -EINVAL;
	WRITE_ONCE(fs_devices->read_devid, args.devid);
	return 0;
}
#endif

/* What must be in place before the policy is. */
static int btrfs_read_policy_prepare(struct btrfs_fs_info *fs_info,
				     const struct btrfs_read_policy_choice *choice)
{
#ifdef CONFIG_BTRFS_EXPERIMENTAL
	const u64 value = choice->value ?: BTRFS_DEFAULT_RR_MIN_CONTIG_READ;
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;

	if (choice->policy == BTRFS_READ_POLICY_DEVID &&
	    btrfs_read_policy_set_devid(fs_info, choice->value))
		return -EINVAL;
	if (choice->policy == BTRFS_READ_POLICY_RR) {
		if (value > SZ_2G)
			return -EINVAL;
		/* Whole sectors, and at least one: the read path divides by them. */
		WRITE_ONCE(fs_devices->rr_min_contig_read, round_up(value, fs_info->sectorsize));
	}
	/* Only round-robin looks at the number of blocks read. */
	fs_devices->collect_fs_stats = (choice->policy == BTRFS_READ_POLICY_RR);
#endif
	return 0;
}

/* Read NAME or NAME:VALUE, K, M and so on after a value; a newline at the end is ignored. */
int btrfs_read_policy_parse(const char *text, struct btrfs_read_policy_choice *choice)
{
	const char *colon = strchr(text, ':');
	char name[POLICY_TEXT];
	char *end;

	if (strscpy(name, text) < 0)
		return -EINVAL;
	if (colon)
		name[colon - text] = '\0';

	choice->value = 0;
	choice->policy = sysfs_match_string(btrfs_read_policy_name, name);
	if (choice->policy < 0)
		return -EINVAL;
	if (!colon)
		return 0;
	/* Those of upstream have a value. */
	if (choice->policy == BTRFS_READ_POLICY_PID ||
	    choice->policy == BTRFS_READ_POLICY_ROUNDROBIN)
		return -EINVAL;
	choice->value = memparse(colon + 1, &end);
	return choice->value && !*skip_spaces(end) ? 0 : -EINVAL;
}

static const char *btrfs_read_policy_format(const struct btrfs_read_policy_choice *choice,
					    char *buf)
{
	const char *name = btrfs_read_policy_name[choice->policy];

	if (choice->value)
		scnprintf(buf, POLICY_TEXT, "%s:%llu", name, choice->value);
	else
		strscpy(buf, name, POLICY_TEXT);
	return buf;
}

struct btrfs_read_policy_choice btrfs_read_policy_get(const struct btrfs_fs_info *fs_info)
{
	const int policy = READ_ONCE(fs_info->fs_devices->read_policy);

	return (struct btrfs_read_policy_choice){
		policy, btrfs_read_policy_value(fs_info->fs_devices, policy),
	};
}

int btrfs_read_policy_set(struct btrfs_fs_info *fs_info,
			  const struct btrfs_read_policy_choice *choice)
{
	const bool count_load = choice->policy == BTRFS_READ_POLICY_ROUNDROBIN;
	struct btrfs_fs_devices *seed, *fs_devices = fs_info->fs_devices;
	struct btrfs_read_policy_choice old, new;
	struct btrfs_device *device;
	char buf[POLICY_TEXT];
	int ret;

	guard(mutex)(&btrfs_read_policy_mutex);
	old = btrfs_read_policy_get(fs_info);
	ret = btrfs_read_policy_prepare(fs_info, choice);
	if (ret)
		return ret;
	if (count_load && !fs_info->read_policy.count_load) {
		/* Estimates from before another policy was set are too old. */
		guard(rcu)();
		list_for_each_entry_rcu(device, &fs_devices->devices, dev_list)
			btrfs_read_load_forget(&device->read_load);
		list_for_each_entry_rcu(seed, &fs_devices->seed_list, seed_list)
			list_for_each_entry_rcu(device, &seed->devices, dev_list)
				btrfs_read_load_forget(&device->read_load);
	}
	WRITE_ONCE(fs_info->read_policy.count_load, count_load);
	WRITE_ONCE(fs_devices->read_policy, choice->policy);
	new = btrfs_read_policy_get(fs_info);
	if (new.policy != old.policy || new.value != old.value)
		btrfs_info(fs_info, "read policy set to '%s'", btrfs_read_policy_format(&new, buf));
	return 0;
}

static struct btrfs_read_policy_choice btrfs_read_policy_get_default(void)
{
	guard(mutex)(&btrfs_read_policy_mutex);
	return btrfs_read_policy_default;
}

/* At mount, before anything is read from mirrored chunks. */
void btrfs_read_policy_init(struct btrfs_fs_info *fs_info)
{
	struct btrfs_read_policy_info *info = &fs_info->read_policy;
	struct btrfs_read_policy_choice choice = info->mount_choice;
	char text[POLICY_TEXT];
	int ret;

	info->nonlocal_inc_mixed_only = 1;
	info->rot_nonlocal_inc = 1;
	info->nonrot_nonlocal_inc = 0;

	if (choice.policy == BTRFS_NR_READ_POLICY)
		choice = btrfs_read_policy_get_default();
	ret = btrfs_read_policy_set(fs_info, &choice);
	if (ret)
		btrfs_warn(fs_info, "cannot use read policy '%s' (%d)",
			   btrfs_read_policy_format(&choice, text), ret);
}

/* Nothing where a mount without the option would have the same. */
void btrfs_read_policy_show_option(struct seq_file *seq, struct btrfs_fs_info *fs_info)
{
	const struct btrfs_read_policy_choice choice = btrfs_read_policy_get(fs_info);
	const struct btrfs_read_policy_choice dflt = btrfs_read_policy_get_default();
	char text[POLICY_TEXT];

	if (choice.policy != dflt.policy || choice.value != dflt.value)
		seq_printf(seq, ",read_policy=%s", btrfs_read_policy_format(&choice, text));
}

static int btrfs_read_policy_param_set(const char *val, const struct kernel_param *kp)
{
	struct btrfs_read_policy_choice choice;
	const int ret = btrfs_read_policy_parse(val, &choice);

	guard(mutex)(&btrfs_read_policy_mutex);
	if (!ret)
		btrfs_read_policy_default = choice;
	return ret;
}

static int btrfs_read_policy_param_get(char *buf, const struct kernel_param *kp)
{
	const struct btrfs_read_policy_choice choice = btrfs_read_policy_get_default();
	char text[POLICY_TEXT];

	return sysfs_emit(buf, "%s\n", btrfs_read_policy_format(&choice, text));
}

static const struct kernel_param_ops btrfs_read_policy_param_ops = {
	.set = btrfs_read_policy_param_set,
	.get = btrfs_read_policy_param_get,
};

module_param_cb(read_policy, &btrfs_read_policy_param_ops, NULL, 0644);
MODULE_PARM_DESC(read_policy,
		 "Read policy of filesystems mounted without the option: pid (default), roundrobin, where built in: round-robin[:bytes], devid[:id]");

/* All files here are in the directory of the filesystem or in a group of it. */
static struct btrfs_fs_info *btrfs_kobj_to_fs_info(struct kobject *kobj)
{
	return container_of(kobj, struct btrfs_fs_devices, fsid_kobj)->fs_info;
}

static ssize_t btrfs_read_policy_show(struct kobject *kobj, struct kobj_attribute *a, char *buf)
{
	const struct btrfs_fs_devices *fs_devices = btrfs_kobj_to_fs_info(kobj)->fs_devices;
	const int policy = READ_ONCE(fs_devices->read_policy);
	char text[POLICY_TEXT];
	ssize_t ret = 0;

	for (int i = 0; i < BTRFS_NR_READ_POLICY; i++) {
		const struct btrfs_read_policy_choice choice = {
			i, btrfs_read_policy_value(fs_devices, i),
		};

		btrfs_read_policy_format(&choice, text);
		ret += sysfs_emit_at(buf, ret, i == policy ? "%s[%s]" : "%s%s", i ? " " : "", text);
	}
	return ret + sysfs_emit_at(buf, ret, "\n");
}

static ssize_t btrfs_read_policy_store(struct kobject *kobj, struct kobj_attribute *a,
				       const char *buf, size_t len)
{
	struct btrfs_read_policy_choice choice;
	/* Nothing may hide behind a NUL. */
	int ret = strnlen(buf, len) == len ? btrfs_read_policy_parse(buf, &choice) : -EINVAL;

	if (!ret)
		ret = btrfs_read_policy_set(btrfs_kobj_to_fs_info(kobj), &choice);
	return ret ? ret : len;
}

struct kobj_attribute btrfs_attr_read_policy =
	__ATTR(read_policy, 0644, btrfs_read_policy_show, btrfs_read_policy_store);

static struct kobj_attribute btrfs_attr_policy =
	__ATTR(policy, 0644, btrfs_read_policy_show, btrfs_read_policy_store);

/* The settings are the two penalties, and yes or no. */
static u32 *btrfs_read_policy_setting(struct kobject *kobj, const char *name)
{
	struct btrfs_read_policy_info *info = &btrfs_kobj_to_fs_info(kobj)->read_policy;

	if (!strcmp(name, "roundrobin_rot_nonlocal_inc"))
		return &info->rot_nonlocal_inc;
	if (!strcmp(name, "roundrobin_nonrot_nonlocal_inc"))
		return &info->nonrot_nonlocal_inc;
	return &info->nonlocal_inc_mixed_only;
}

static ssize_t btrfs_read_policy_setting_show(struct kobject *kobj, struct kobj_attribute *a,
					      char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(*btrfs_read_policy_setting(kobj, a->attr.name)));
}

static ssize_t btrfs_read_policy_setting_store(struct kobject *kobj, struct kobj_attribute *a,
					       const char *buf, size_t len)
{
	struct btrfs_read_policy_info *info = &btrfs_kobj_to_fs_info(kobj)->read_policy;
	u32 *setting = btrfs_read_policy_setting(kobj, a->attr.name);
	bool yes = false;
	u32 val = 0;

	if (strnlen(buf, len) != len || len > POLICY_TEXT)
		return -EINVAL;
	if ((setting == &info->nonlocal_inc_mixed_only ? kstrtobool(buf, &yes) :
	     kstrtou32(buf, 10, &val)) || val > PENALTY_MAX)
		return -EINVAL;
	WRITE_ONCE(*setting, yes ? 1 : val);
	return len;
}

#define BTRFS_READ_POLICY_SETTING(_name)						\
static struct kobj_attribute btrfs_attr_##_name =					\
	__ATTR(roundrobin_##_name, 0644, btrfs_read_policy_setting_show,		\
	       btrfs_read_policy_setting_store)

BTRFS_READ_POLICY_SETTING(nonlocal_inc_mixed_only);
BTRFS_READ_POLICY_SETTING(nonrot_nonlocal_inc);
BTRFS_READ_POLICY_SETTING(rot_nonlocal_inc);

static struct attribute *btrfs_read_policy_attrs[] = {
	&btrfs_attr_policy.attr,
	&btrfs_attr_nonlocal_inc_mixed_only.attr,
	&btrfs_attr_nonrot_nonlocal_inc.attr,
	&btrfs_attr_rot_nonlocal_inc.attr,
	NULL
};

const struct attribute_group btrfs_read_policy_attr_group = {
	.name = "read_policies",
	.attrs = btrfs_read_policy_attrs,
};

static ssize_t btrfs_read_stats_show(struct kobject *kobj, struct kobj_attribute *a, char *buf)
{
	struct btrfs_device *device = container_of(kobj, struct btrfs_device, devid_kobj);
	const struct btrfs_read_speed speed = btrfs_read_speed(device);
	const struct btrfs_read_load *load = &device->read_load;

	return sysfs_emit(buf, "load_ns %llu\nreads %u\nseek_ns %u\nunit_ns %u\nlast_end %llu\n",
			  btrfs_read_wait_ns(load, &speed, 0), READ_ONCE(load->reads),
			  speed.seek_ns, speed.unit_ns, READ_ONCE(load->last_end));
}

struct kobj_attribute btrfs_attr_devid_read_stats =
	__ATTR(read_stats, 0444, btrfs_read_stats_show, NULL);
