// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/block/labdX/lab/: what a disk is, what it has done, and what can be
 * changed while it runs.  Texts only; everything else is done elsewhere.
 */
#include <linux/kernel.h>
#include <linux/sysfs.h>
#include "labdisk.h"

static struct lab_disk *from_dev(struct device *dev)
{
	return dev_to_disk(dev)->private_data;
}

static ssize_t parameters_show(struct device *dev, struct device_attribute *a,
			       char *buf)
{
	return lm_print_param(&from_dev(dev)->model->p, buf, PAGE_SIZE);
}
static DEVICE_ATTR_RO(parameters);

static ssize_t stats_show(struct device *dev, struct device_attribute *a,
			  char *buf)
{
	struct lab_disk *l = from_dev(dev);
	struct lm_stats st;

	spin_lock_irq(&l->lock);
	st = l->model->st;
	spin_unlock_irq(&l->lock);
	return lm_print_stats(&st, buf, PAGE_SIZE);
}

/* Writing anything starts the counts again. */
static ssize_t stats_store(struct device *dev, struct device_attribute *a,
			   const char *buf, size_t len)
{
	struct lab_disk *l = from_dev(dev);

	spin_lock_irq(&l->lock);
	lm_reset_stats(l->model);
	spin_unlock_irq(&l->lock);
	return len;
}
static DEVICE_ATTR_RW(stats);

static ssize_t slow_show(struct device *dev, struct device_attribute *a,
			 char *buf)
{
	return sysfs_emit(buf, "%llu\n", from_dev(dev)->model->p.slow);
}

/* Percent of the time anything takes: 100 as built, 1000 ten times slower. */
static ssize_t slow_store(struct device *dev, struct device_attribute *a,
			  const char *buf, size_t len)
{
	struct lab_disk *l = from_dev(dev);
	u64 percent;
	int ret = kstrtou64(buf, 10, &percent);

	if (ret)
		return ret;
	if (percent < 1 || percent > 100000)
		return -EINVAL;
	spin_lock_irq(&l->lock);
	lm_set_slow(l->model, ktime_get_ns(), percent);
	spin_unlock_irq(&l->lock);
	return len;
}
static DEVICE_ATTR_RW(slow);

static ssize_t load_show(struct device *dev, struct device_attribute *a,
			 char *buf)
{
	struct lm_param *p = &from_dev(dev)->model->p;

	return sysfs_emit(buf, "%llu %llu\n", p->load,
			  p->load_period / NSEC_PER_MSEC);
}

/* "percent [period in milliseconds]": the share that is someone else's. */
static ssize_t load_store(struct device *dev, struct device_attribute *a,
			  const char *buf, size_t len)
{
	struct lab_disk *l = from_dev(dev);
	unsigned int percent, ms = l->model->p.load_period / NSEC_PER_MSEC;

	if (sscanf(buf, "%u %u", &percent, &ms) < 1)
		return -EINVAL;
	if (percent > 99 || ms < 1 || ms > 60000)
		return -EINVAL;
	spin_lock_irq(&l->lock);
	lm_set_load(l->model, ktime_get_ns(), percent, ms * NSEC_PER_MSEC);
	spin_unlock_irq(&l->lock);
	return len;
}
static DEVICE_ATTR_RW(load);

static ssize_t power_show(struct device *dev, struct device_attribute *a,
			  char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  from_dev(dev)->power == LAB_OFF ? "off" : "on");
}

static void set_power(struct lab_disk *l, enum lab_power power)
{
	spin_lock_irq(&l->lock);
	l->power = power;
	spin_unlock_irq(&l->lock);
}

/*
 * "cut", "cut keep", "cut random SEED": nothing is served any more, and of what
 * was not flushed nothing, all or a random half of the pages is on the media.
 * "no flush": each flush fails. "on": served again.
 */
static ssize_t power_store(struct device *dev, struct device_attribute *a,
			   const char *buf, size_t len)
{
	struct lab_disk *l = from_dev(dev);
	enum lab_cut how = LAB_CUT_DROP;
	u64 seed = 0;
	int ret;

	if (sysfs_streq(buf, "on")) {
		set_power(l, LAB_ON);
		return len;
	}
	if (sysfs_streq(buf, "no flush")) {
		set_power(l, LAB_NO_FLUSH);
		return len;
	}
	if (sysfs_streq(buf, "cut keep"))
		how = LAB_CUT_KEEP;
	else if (sscanf(buf, "cut random %llu", &seed) == 1)
		how = LAB_CUT_RANDOM;
	else if (!sysfs_streq(buf, "cut"))
		return -EINVAL;
	set_power(l, LAB_OFF);
	ret = lab_store_cut(l, how, seed);
	return ret ?: len;
}
static DEVICE_ATTR_RW(power);

static struct attribute *lab_attributes[] = {
	&dev_attr_parameters.attr,
	&dev_attr_stats.attr,
	&dev_attr_slow.attr,
	&dev_attr_load.attr,
	&dev_attr_power.attr,
	NULL,
};

static const struct attribute_group lab_group = {
	.name = "lab",
	.attrs = lab_attributes,
};

const struct attribute_group *lab_attribute_groups[] = { &lab_group, NULL };
