// SPDX-License-Identifier: GPL-2.0-only
/*
 * The choice of a read policy: names, values, and which one is set.
 *
 * The file for it is in read-policy-sysfs.c. What a policy does is not known
 * here, only what has to be in place before it is used.
 */

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "messages.h"
#include "ctree.h"
#include "fs.h"
#include "volumes.h"
#include "read-policy.h"

static const char * const btrfs_read_policy_name[] = {
	[BTRFS_READ_POLICY_PID]		= "pid",
#ifdef CONFIG_BTRFS_EXPERIMENTAL
	[BTRFS_READ_POLICY_RR]		= "round-robin",
	[BTRFS_READ_POLICY_DEVID]	= "devid",
#endif
	[BTRFS_READ_POLICY_ROUNDROBIN]	= "roundrobin",
};

static_assert(ARRAY_SIZE(btrfs_read_policy_name) == BTRFS_NR_READ_POLICY);

/* What a filesystem starts with when the mount options do not say. */
static struct btrfs_read_policy_choice btrfs_read_policy_default = {
	.policy = BTRFS_READ_POLICY_PID,
};

/* Serializes changes of the policy, whose state is in more than one place. */
static DEFINE_MUTEX(btrfs_read_policy_mutex);

#ifdef CONFIG_BTRFS_EXPERIMENTAL

static bool btrfs_read_policy_has_value(int policy)
{
	return policy == BTRFS_READ_POLICY_RR || policy == BTRFS_READ_POLICY_DEVID;
}

/* The value in use, or that would be if the policy was set; 0 if it has none. */
u64 btrfs_read_policy_value(const struct btrfs_fs_devices *fs_devices, int policy)
{
	if (policy == BTRFS_READ_POLICY_RR)
		return READ_ONCE(fs_devices->rr_min_contig_read);
	if (policy == BTRFS_READ_POLICY_DEVID)
		return READ_ONCE(fs_devices->read_devid);
	return 0;
}

/* Whole sectors, and at least one: the read path divides by them. */
static int btrfs_read_policy_set_contig(struct btrfs_fs_info *fs_info, u64 bytes)
{
	if (bytes > SZ_2G)
		return -EINVAL;
	if (!bytes)
		bytes = BTRFS_DEFAULT_RR_MIN_CONTIG_READ;
	WRITE_ONCE(fs_info->fs_devices->rr_min_contig_read,
		   round_up(bytes, fs_info->sectorsize));
	return 0;
}

static int btrfs_read_policy_set_devid(struct btrfs_fs_info *fs_info, u64 devid)
{
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;
	struct btrfs_dev_lookup_args args = BTRFS_DEV_LOOKUP_ARGS_INIT;
	int ret = 0;

	mutex_lock(&fs_devices->device_list_mutex);
	args.devid = devid ? devid : fs_devices->latest_dev->devid;
	if (btrfs_find_device(fs_devices, &args))
		WRITE_ONCE(fs_devices->read_devid, args.devid);
	else
		ret = -EINVAL;
	mutex_unlock(&fs_devices->device_list_mutex);
	return ret;
}

/* What must be in place before the policy is. */
static int btrfs_read_policy_prepare(struct btrfs_fs_info *fs_info,
				     const struct btrfs_read_policy_choice *choice)
{
	int ret = 0;

	if (choice->policy == BTRFS_READ_POLICY_RR)
		ret = btrfs_read_policy_set_contig(fs_info, choice->value);
	if (choice->policy == BTRFS_READ_POLICY_DEVID)
		ret = btrfs_read_policy_set_devid(fs_info, choice->value);
	if (ret)
		return ret;

	/* Only round-robin looks at the number of blocks read. */
	fs_info->fs_devices->collect_fs_stats = (choice->policy == BTRFS_READ_POLICY_RR);
	return 0;
}

#else

static bool btrfs_read_policy_has_value(int policy)
{
	return false;
}

u64 btrfs_read_policy_value(const struct btrfs_fs_devices *fs_devices, int policy)
{
	return 0;
}

static int btrfs_read_policy_prepare(struct btrfs_fs_info *fs_info,
				     const struct btrfs_read_policy_choice *choice)
{
	return 0;
}

#endif

/* A number above zero, K, M and so on after it, then nothing but white space. */
static int btrfs_read_policy_parse_value(const char *text, u64 *value)
{
	char *end;

	*value = memparse(text, &end);
	return *value && !*skip_spaces(end) ? 0 : -EINVAL;
}

/* Read NAME or NAME:VALUE, a newline at the end is ignored. */
int btrfs_read_policy_parse(const char *text, struct btrfs_read_policy_choice *choice)
{
	const char *colon = strchr(text, ':');
	char name[BTRFS_READ_POLICY_TEXT];

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
	if (!btrfs_read_policy_has_value(choice->policy))
		return -EINVAL;
	return btrfs_read_policy_parse_value(colon + 1, &choice->value);
}

void btrfs_read_policy_format(const struct btrfs_read_policy_choice *choice,
			      char *buf, size_t size)
{
	const char *name = btrfs_read_policy_name[choice->policy];

	if (choice->value)
		scnprintf(buf, size, "%s:%llu", name, choice->value);
	else
		scnprintf(buf, size, "%s", name);
}

static void btrfs_read_policy_report(struct btrfs_fs_info *fs_info, int policy)
{
	const struct btrfs_read_policy_choice choice = {
		.policy = policy,
		.value = btrfs_read_policy_value(fs_info->fs_devices, policy),
	};
	char text[BTRFS_READ_POLICY_TEXT];

	btrfs_read_policy_format(&choice, text, sizeof(text));
	btrfs_info(fs_info, "read policy set to '%s'", text);
}

/*
 * What was learnt of the devices before another policy was set is long over, and
 * what that has in flight is not counted.  A read that ends at this moment may
 * keep an estimate alive, which does no harm.
 */
static void btrfs_read_policy_forget(struct btrfs_fs_devices *fs_devices)
{
	struct btrfs_device *device;

	rcu_read_lock();
	list_for_each_entry_rcu(device, &fs_devices->devices, dev_list)
		WRITE_ONCE(device->read_load.speed.samples, 0);
	rcu_read_unlock();
}

int btrfs_read_policy_set(struct btrfs_fs_info *fs_info,
			  const struct btrfs_read_policy_choice *choice)
{
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;
	const int policy = choice->policy;
	u64 old_value;
	int ret;

	mutex_lock(&btrfs_read_policy_mutex);
	old_value = btrfs_read_policy_value(fs_devices, policy);
	ret = btrfs_read_policy_prepare(fs_info, choice);
	if (!ret && policy == BTRFS_READ_POLICY_ROUNDROBIN) {
		ret = btrfs_rr_alloc_tails(&fs_info->read_policy);
		if (!ret)
			ret = btrfs_rr_alloc_flash(&fs_info->read_policy);
		if (!ret)
			ret = btrfs_read_turn_alloc(&fs_info->read_policy);
	}
	if (ret)
		goto out;
	if (policy == BTRFS_READ_POLICY_ROUNDROBIN && !fs_info->read_policy.count_load)
		btrfs_read_policy_forget(fs_devices);
	WRITE_ONCE(fs_info->read_policy.count_load, policy == BTRFS_READ_POLICY_ROUNDROBIN);
	if (policy != READ_ONCE(fs_devices->read_policy) ||
	    old_value != btrfs_read_policy_value(fs_devices, policy)) {
		WRITE_ONCE(fs_devices->read_policy, policy);
		btrfs_read_policy_report(fs_info, policy);
	}
out:
	mutex_unlock(&btrfs_read_policy_mutex);
	return ret;
}

static struct btrfs_read_policy_choice btrfs_read_policy_get_default(void)
{
	struct btrfs_read_policy_choice choice;

	mutex_lock(&btrfs_read_policy_mutex);
	choice = btrfs_read_policy_default;
	mutex_unlock(&btrfs_read_policy_mutex);
	return choice;
}

/* At mount, before anything is read from mirrored chunks. */
void btrfs_read_policy_init(struct btrfs_fs_info *fs_info)
{
	struct btrfs_read_policy_info *info = &fs_info->read_policy;
	struct btrfs_read_policy_choice choice = info->mount_choice;
	char text[BTRFS_READ_POLICY_TEXT];
	int ret;

	info->nonlocal_inc_mixed_only = 1;
	info->rot_nonlocal_inc = 1;
	info->nonrot_nonlocal_inc = 0;

	if (choice.policy == BTRFS_NR_READ_POLICY)
		choice = btrfs_read_policy_get_default();
	ret = btrfs_read_policy_set(fs_info, &choice);
	if (!ret)
		return;
	btrfs_read_policy_format(&choice, text, sizeof(text));
	btrfs_warn(fs_info, "cannot use read policy '%s' (%d)", text, ret);
}

/* Would a mount without the option have it as well? */
static bool btrfs_read_policy_is_default(const struct btrfs_read_policy_choice *choice)
{
	const struct btrfs_read_policy_choice dflt = btrfs_read_policy_get_default();

	return choice->policy == dflt.policy && (!dflt.value || choice->value == dflt.value);
}

void btrfs_read_policy_show_option(struct seq_file *seq, struct btrfs_fs_info *fs_info)
{
	const int policy = READ_ONCE(fs_info->fs_devices->read_policy);
	const struct btrfs_read_policy_choice choice = {
		.policy = policy,
		.value = btrfs_read_policy_value(fs_info->fs_devices, policy),
	};
	char text[BTRFS_READ_POLICY_TEXT];

	if (btrfs_read_policy_is_default(&choice))
		return;
	btrfs_read_policy_format(&choice, text, sizeof(text));
	seq_printf(seq, ",read_policy=%s", text);
}

static int btrfs_read_policy_param_set(const char *val, const struct kernel_param *kp)
{
	struct btrfs_read_policy_choice choice;
	const int ret = btrfs_read_policy_parse(val, &choice);

	if (ret)
		return ret;
	mutex_lock(&btrfs_read_policy_mutex);
	btrfs_read_policy_default = choice;
	mutex_unlock(&btrfs_read_policy_mutex);
	return 0;
}

static int btrfs_read_policy_param_get(char *buf, const struct kernel_param *kp)
{
	const struct btrfs_read_policy_choice choice = btrfs_read_policy_get_default();
	char text[BTRFS_READ_POLICY_TEXT];

	btrfs_read_policy_format(&choice, text, sizeof(text));
	return sysfs_emit(buf, "%s\n", text);
}

static const struct kernel_param_ops btrfs_read_policy_param_ops = {
	.set = btrfs_read_policy_param_set,
	.get = btrfs_read_policy_param_get,
};

module_param_cb(read_policy, &btrfs_read_policy_param_ops, NULL, 0644);
MODULE_PARM_DESC(read_policy,
		 "Read policy of filesystems mounted without the option: pid (default), roundrobin, where built in: round-robin[:bytes], devid[:id]");
