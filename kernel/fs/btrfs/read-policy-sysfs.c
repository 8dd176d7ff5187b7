// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read policies in sysfs: their names, their settings and what they know of a
 * device, as text.  Must not decide or keep anything.
 */

#include <linux/kobject.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "ctree.h"
#include "fs.h"
#include "volumes.h"
#include "read-policy.h"

/* All files here are in the directory of the filesystem or in a group of it. */
static struct btrfs_fs_info *btrfs_kobj_to_fs_info(struct kobject *kobj)
{
	return container_of(kobj, struct btrfs_fs_devices, fsid_kobj)->fs_info;
}

static ssize_t btrfs_read_policy_show(struct kobject *kobj, struct kobj_attribute *a,
				      char *buf)
{
	const struct btrfs_fs_devices *fs_devices = btrfs_kobj_to_fs_info(kobj)->fs_devices;
	const int policy = READ_ONCE(fs_devices->read_policy);
	char text[BTRFS_READ_POLICY_TEXT];
	ssize_t ret = 0;

	for (int i = 0; i < BTRFS_NR_READ_POLICY; i++) {
		const struct btrfs_read_policy_choice choice = {
			.policy = i,
			.value = btrfs_read_policy_value(fs_devices, i),
		};

		btrfs_read_policy_format(&choice, text, sizeof(text));
		ret += sysfs_emit_at(buf, ret, i == policy ? "%s[%s]" : "%s%s",
				     i ? " " : "", text);
	}
	ret += sysfs_emit_at(buf, ret, "\n");
	return ret;
}

static ssize_t btrfs_read_policy_store(struct kobject *kobj, struct kobj_attribute *a,
				       const char *buf, size_t len)
{
	struct btrfs_read_policy_choice choice;
	int ret;

	/* Nothing may hide behind a NUL. */
	if (strnlen(buf, len) != len)
		return -EINVAL;
	ret = btrfs_read_policy_parse(buf, &choice);
	if (ret)
		return ret;
	ret = btrfs_read_policy_set(btrfs_kobj_to_fs_info(kobj), &choice);
	return ret ? ret : len;
}

struct kobj_attribute btrfs_attr_read_policy =
	__ATTR(read_policy, 0644, btrfs_read_policy_show, btrfs_read_policy_store);

static struct kobj_attribute btrfs_attr_policy =
	__ATTR(policy, 0644, btrfs_read_policy_show, btrfs_read_policy_store);

/* A setting that is a plain number: where it is kept and how large it may be. */
struct btrfs_read_policy_setting {
	struct kobj_attribute attr;
	size_t offset;
	u32 max;
};

static u32 *btrfs_read_policy_setting_ptr(struct kobject *kobj,
					  const struct btrfs_read_policy_setting *setting)
{
	return (void *)&btrfs_kobj_to_fs_info(kobj)->read_policy + setting->offset;
}

static ssize_t btrfs_read_policy_setting_show(struct kobject *kobj,
					      struct kobj_attribute *a, char *buf)
{
	const struct btrfs_read_policy_setting *setting =
		container_of(a, struct btrfs_read_policy_setting, attr);

	return sysfs_emit(buf, "%u\n",
			  READ_ONCE(*btrfs_read_policy_setting_ptr(kobj, setting)));
}

/* A whole number within the bounds and nothing else. */
static ssize_t btrfs_read_policy_setting_store(struct kobject *kobj,
					       struct kobj_attribute *a,
					       const char *buf, size_t len)
{
	const struct btrfs_read_policy_setting *setting =
		container_of(a, struct btrfs_read_policy_setting, attr);
	u32 val;

	if (strnlen(buf, len) != len || kstrtou32(buf, 10, &val) || val > setting->max)
		return -EINVAL;
	WRITE_ONCE(*btrfs_read_policy_setting_ptr(kobj, setting), val);
	return len;
}

#define BTRFS_READ_POLICY_SETTING(_name, _max)						\
static struct btrfs_read_policy_setting btrfs_attr_roundrobin_##_name = {		\
	.attr = __ATTR(roundrobin_##_name, 0644, btrfs_read_policy_setting_show,	\
		       btrfs_read_policy_setting_store),				\
	.offset = offsetof(struct btrfs_read_policy_info, _name),			\
	.max = _max,									\
}

BTRFS_READ_POLICY_SETTING(nonlocal_inc_mixed_only, 1);
BTRFS_READ_POLICY_SETTING(nonrot_nonlocal_inc, BTRFS_RR_PENALTY_MAX);
BTRFS_READ_POLICY_SETTING(rot_nonlocal_inc, BTRFS_RR_PENALTY_MAX);

static struct attribute *btrfs_read_policy_attrs[] = {
	&btrfs_attr_policy.attr,
	&btrfs_attr_roundrobin_nonlocal_inc_mixed_only.attr.attr,
	&btrfs_attr_roundrobin_nonrot_nonlocal_inc.attr.attr,
	&btrfs_attr_roundrobin_rot_nonlocal_inc.attr.attr,
	NULL
};

/*
 * Settings of the read policies.
 *
 * Path: /sys/fs/btrfs/<uuid>/read_policies/
 */
const struct attribute_group btrfs_read_policy_attr_group = {
	.name = "read_policies",
	.attrs = btrfs_read_policy_attrs,
};

static ssize_t btrfs_feature_read_policy_show(struct kobject *kobj,
					      struct kobj_attribute *a, char *buf)
{
	return sysfs_emit(buf, "1\n");
}

struct kobj_attribute btrfs_attr_feature_read_policy_roundrobin =
	__ATTR(read_policy_roundrobin, 0444, btrfs_feature_read_policy_show, NULL);

static ssize_t btrfs_read_stats_show(struct kobject *kobj, struct kobj_attribute *a,
				     char *buf)
{
	struct btrfs_device *device = container_of(kobj, struct btrfs_device, devid_kobj);
	struct btrfs_read_load *load = &device->read_load;
	const struct btrfs_rr_speed speed = btrfs_rr_speed_get(&load->speed);
	const u64 scale = speed.scale ? speed.scale : BTRFS_RR_SCALE_ONE;
	ssize_t ret;

	ret = sysfs_emit(buf,
			 "load_ns %lld\n"
			 "reads %lld\n"
			 "read_bytes %lld\n"
			 "read_errors %lld\n"
			 "writes %lld\n"
			 "write_bytes %lld\n"
			 "samples %u\n"
			 "scale_permille %llu\n"
			 "queue_permille %llu\n"
			 "last_end %llu\n",
			 atomic64_read(&load->load_ns),
			 atomic64_read(&load->reads),
			 atomic64_read(&load->read_bytes),
			 atomic64_read(&load->read_errors),
			 atomic64_read(&load->writes),
			 atomic64_read(&load->write_bytes),
			 speed.samples,
			 scale * 1000 >> BTRFS_RR_SCALE_SHIFT,
			 (u64)speed.queue * 1000 >> BTRFS_RR_SCALE_SHIFT,
			 READ_ONCE(load->last_end));
	/* Flash has no such averages. */
	if (speed.predicted_ns)
		ret += sysfs_emit_at(buf, ret, "service_ns %llu\npredicted_ns %llu\n",
				     speed.service_ns, speed.predicted_ns);
	return ret;
}

struct kobj_attribute btrfs_attr_devid_read_stats =
	__ATTR(read_stats, 0444, btrfs_read_stats_show, NULL);
