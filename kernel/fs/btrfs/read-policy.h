/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read policies: which copy of a mirrored block group a read goes to.
 *
 * This is all the rest of btrfs needs to know of them.  Everything here may be
 * called while another policy is active and then does nothing.
 */

#ifndef BTRFS_READ_POLICY_H
#define BTRFS_READ_POLICY_H

#include <linux/atomic.h>
#include <linux/bio.h>
#include <linux/cache.h>
#include <linux/kobject.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/types.h>
#include "read-policy-core.h"
#include "read-policy-turn-core.h"

struct seq_file;
struct btrfs_chunk_map;
struct btrfs_device;
struct btrfs_fs_devices;
struct btrfs_fs_info;
struct btrfs_io_stripe;
struct btrfs_rr_flash_cpu;
struct workqueue_struct;

/* The first read of something that will probably go on. */
#define BTRFS_RR_STREAM_START		SZ_128K

/*
 * Read policies for mirrored block group profiles, read picks the stripe based
 * on these policies.
 */
enum btrfs_read_policy {
	/* Use process PID to choose the stripe */
	BTRFS_READ_POLICY_PID,
#ifdef CONFIG_BTRFS_EXPERIMENTAL
	/* Balancing RAID1 reads across all striped devices (round-robin). */
	BTRFS_READ_POLICY_RR,
	/* Read from a specific device. */
	BTRFS_READ_POLICY_DEVID,
#endif
	/* Keep streams together, take turns, prefer the mirror that is done first */
	BTRFS_READ_POLICY_ROUNDROBIN,
	BTRFS_NR_READ_POLICY,
};

/* A policy as it is asked for: "pid", "round-robin:1M", "devid:2". */
struct btrfs_read_policy_choice {
	int policy;
	/* The number after the colon, 0 if there is none. */
	u64 value;
};

/* Room for a choice as text. */
#define BTRFS_READ_POLICY_TEXT		40

/*
 * What the roundrobin policy knows of a device.  All of it is written without
 * locks: @load_ns is exact, of the rest a lost update only makes an estimate
 * a little older.
 */
struct btrfs_read_load {
	/* Predicted time of the requests in flight, 0 when there are none. */
	atomic64_t load_ns;
	/* Where the last request ends that was sent here, or will be, in bytes on the device. */
	u64 last_end;
	/* When the last request completed, on flash to a tick, and where it ended. */
	u64 last_done_ns;
	u64 head;
	/* The stream that was last sent here, and when. */
	u64 stream_ns;
	u16 stream;
	/* How many of the reads in flight are timed. */
	atomic_t timed;
	/* When the last of many reads came that were no part of a stream. */
	u64 random_ns;
	struct btrfs_rr_speed speed;
	/* When the last such read came. */
	u64 single_ns;
	/* The tick, in jiffies, in which the last timed read was sent. */
	u32 timed_tick;

	atomic64_t reads;
	atomic64_t read_bytes;
	atomic64_t writes;
	atomic64_t write_bytes;
	atomic64_t read_errors;
} ____cacheline_aligned_in_smp;

/* A read in flight: since when, 0 if it is not timed, and what was in flight then. */
struct btrfs_read_timing {
	u64 start_ns;
	u32 ahead_ns;
};

/* Turns of a stream on a disk, and the reads of it that wait for the turn before. */
struct btrfs_read_turns {
	/* Protects the others. */
	spinlock_t lock;
	struct btrfs_rr_turns state;
	struct bio_list waiting;
};

/* State and settings of the roundrobin policy, per filesystem. */
struct btrfs_read_policy_info {
	/* Is the policy one that needs to know the load of devices? */
	bool count_load;
	/* Stream table, allocated when the policy is first used, then kept. */
	u64 *tails;
	/* The same for small reads of flash, per CPU. */
	struct btrfs_rr_flash_cpu __percpu *flash;
	/* Send reads that waited for their turn, NULL before the policy is used. */
	struct workqueue_struct *turn_workers;
	/* Penalties for reads that do not continue the last one. */
	u32 rot_nonlocal_inc;
	u32 nonrot_nonlocal_inc;
	/* Apply them only when rotating and flash mirrors are to choose from. */
	u32 nonlocal_inc_mixed_only;
	/* Asked for at mount, the policy is BTRFS_NR_READ_POLICY for the default. */
	struct btrfs_read_policy_choice mount_choice;
};

/* One read looking for a mirror. */
struct btrfs_read_request {
	/* Offset in the stripe, the same on all mirrors. */
	u64 offset;
	/* Bytes wanted; on return those to be read from the chosen mirror. */
	u64 len;
	/* Avoid this device (source of a device replace), may be NULL. */
	const struct btrfs_device *avoid;
	/* The physical address is not known before the mirror is. */
	bool unknown_pos;
	/* On return, what the read is to its stream. */
	struct btrfs_rr_turn turn;
};

extern const struct attribute_group btrfs_read_policy_attr_group;
extern struct kobj_attribute btrfs_attr_read_policy;
extern struct kobj_attribute btrfs_attr_devid_read_stats;
extern struct kobj_attribute btrfs_attr_feature_read_policy_roundrobin;

int btrfs_read_policy_parse(const char *text, struct btrfs_read_policy_choice *choice);
void btrfs_read_policy_format(const struct btrfs_read_policy_choice *choice,
			      char *buf, size_t size);
u64 btrfs_read_policy_value(const struct btrfs_fs_devices *fs_devices, int policy);
void btrfs_read_policy_init(struct btrfs_fs_info *fs_info);
void btrfs_read_policy_free(struct btrfs_fs_info *fs_info);
int btrfs_read_policy_set(struct btrfs_fs_info *fs_info,
			  const struct btrfs_read_policy_choice *choice);
void btrfs_read_policy_show_option(struct seq_file *seq, struct btrfs_fs_info *fs_info);

int btrfs_rr_alloc_tails(struct btrfs_read_policy_info *info);
int btrfs_read_policy_pick(struct btrfs_fs_info *fs_info,
			   const struct btrfs_chunk_map *map, int first, int nr,
			   struct btrfs_read_request *req);

int btrfs_rr_alloc_flash(struct btrfs_read_policy_info *info);
void btrfs_rr_free_flash(struct btrfs_read_policy_info *info);
int btrfs_rr_pick_flash(const struct btrfs_read_policy_info *info,
			const struct btrfs_io_stripe *stripes, int nr, u64 key,
			const struct btrfs_read_request *req);

int btrfs_read_turn_alloc(struct btrfs_read_policy_info *info);
void btrfs_read_turn_free(struct btrfs_read_policy_info *info);
void btrfs_read_turns_init(struct btrfs_device *device);
void btrfs_read_load_reset(struct btrfs_device *device);
void btrfs_read_load_drain(struct btrfs_device *device);
u32 __btrfs_read_load_charge(struct btrfs_device *device, const struct bio *bio,
			     struct btrfs_read_timing *timing);
void __btrfs_read_load_uncharge(struct btrfs_device *device, struct bio *bio,
				u32 charge, const struct btrfs_read_timing *timing);

/* Under a policy that does not count, these are all that a request costs. */
static inline u32 btrfs_read_load_charge(const struct btrfs_read_policy_info *info,
					 struct btrfs_device *device,
					 const struct bio *bio,
					 struct btrfs_read_timing *timing)
{
	return READ_ONCE(info->count_load) ?
	       __btrfs_read_load_charge(device, bio, timing) : 0;
}

static inline void btrfs_read_load_uncharge(struct btrfs_device *device, struct bio *bio,
					    u32 charge,
					    const struct btrfs_read_timing *timing)
{
	if (charge)
		__btrfs_read_load_uncharge(device, bio, charge, timing);
}

#endif
