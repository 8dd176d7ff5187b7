/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel side of the lab's disks, between its own files: a device and where
 * its content is kept.  No service times here; those are labdisk-model.h's.
 */
#ifndef LABDISK_H
#define LABDISK_H

#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/version.h>
#include <linux/xarray.h>
#include "labdisk-model.h"

/* What newer kernels call otherwise: merging is what every queue does there. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define LAB_MERGE	BLK_MQ_F_SHOULD_MERGE
#else
#define LAB_MERGE	0
#endif

static inline void lab_timer_setup(struct hrtimer *timer,
				   enum hrtimer_restart (*function)(struct hrtimer *))
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = function;
#else
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#endif
}

enum lab_power { LAB_ON, LAB_OFF, LAB_NO_FLUSH };

/* How much of what was not flushed a power cut lets survive. */
enum lab_cut { LAB_CUT_DROP, LAB_CUT_KEEP, LAB_CUT_RANDOM };

struct lab_disk {
	struct list_head list;
	struct gendisk *disk;
	struct blk_mq_tag_set set;
	int index;

	spinlock_t lock;		/* model, timer, power */
	struct lm_disk *model;
	struct hrtimer timer;
	enum lab_power power;

	struct xarray pages;		/* content, when kept in memory */
	bool on_host;			/* or in a file of the host, or on a device */
	int host_fd;
	struct file *host_dev;
	struct mutex cache_lock;	/* volatile pages */
	struct xarray cache;		/* written and not flushed, if modelled */
	u64 cache_bytes;		/* written since it was empty */
};

/* labdisk-store.c */
int lab_store_open(struct lab_disk *l, const char *file);
void lab_store_close(struct lab_disk *l);
int lab_store_request(struct lab_disk *l, struct request *rq);
int lab_store_cut(struct lab_disk *l, enum lab_cut how, u64 seed);

/* labdisk-host.c: files of the host under User-Mode Linux, block devices elsewhere */
int lab_host_open(struct lab_disk *l, const char *file);
void lab_host_close(struct lab_disk *l);
int lab_host_rw(struct lab_disk *l, bool write, struct kvec *v, int n, u64 pos);
int lab_host_discard(struct lab_disk *l, u64 pos, u64 len);

/* labdisk-sysfs.c */
extern const struct attribute_group *lab_attribute_groups[];

#endif
