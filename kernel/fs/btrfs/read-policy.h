/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read policies: which copy of a mirrored block group a read goes to.  All functions may
 * be called while another policy is active.
 */

#ifndef BTRFS_READ_POLICY_H
#define BTRFS_READ_POLICY_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/types.h>

struct attribute_group;
struct bio;
struct btrfs_chunk_map;
struct btrfs_device;
struct btrfs_fs_info;
struct kobj_attribute;
struct seq_file;

/* Read policies for mirrored block group profiles */
enum btrfs_read_policy {
	/* Use process PID to choose the stripe */
	BTRFS_READ_POLICY_PID,
#ifdef CONFIG_BTRFS_EXPERIMENTAL
	/* Balancing RAID1 reads across all striped devices (round-robin). */
	BTRFS_READ_POLICY_RR,
	/* Read from a specific device. */
	BTRFS_READ_POLICY_DEVID,
#endif
	/* The mirror that is done first and whose other readers lose least, see read-policy.c */
	BTRFS_READ_POLICY_ROUNDROBIN,
	BTRFS_NR_READ_POLICY,
};

/* A policy as it is asked for: "pid", "round-robin:1M", "devid:2". */
struct btrfs_read_policy_choice {
	int policy;
	/* The number after the colon, 0 if there is none. */
	u64 value;
};

/* Amounts are counted in units of 64 KiB: what fits into a slot, and a block of RAID10. */
#define BTRFS_READ_UNIT_SHIFT	16
/* So many tasks are known on each device; who finds no slot has no lease. */
#define BTRFS_RR_SLOTS		4

/* A task that reads from a device.  Lost updates only make it a little wrong. */
struct btrfs_rr_slot {
	u32 pid;
	/* The lease: until when the task is expected to go on here, in ticks. */
	u32 until;
	/* Where it goes on, in pages of the device. */
	u32 next;
	/* What it has read since it came here, in units. */
	u16 since;
	/* What it has read in a row, here and before, in units. */
	u8 run;
	/* The most it had in flight, in four units. */
	u8 window;
};

/* How fast a device is, as far as it is known. */
struct btrfs_read_speed {
	u32 seek_ns;
	u32 unit_ns;
	bool rot;
};

/*
 * What is known of a device.  Written without locks by those who use the device;
 * @in_flight is exact, of the rest a lost update only makes an estimate older.
 */
struct btrfs_read_load {
	/* Bytes, and above them seeks, see read-policy-load.c */
	atomic64_t in_flight;
	/* Where the last request ends that was sent, and the last that completed. */
	u64 last_end;
	u64 head;
	/* When the last but small reads of flash completed, or the first came to an idle device. */
	u64 since_ns;
	/* Learnt times of a seek and of the transfer of a unit, 0 if nothing is known. */
	u32 seek_ns;
	u32 unit_ns;
	u32 reads;
	/* The last tick in which a read told the speed, and a small read of flash. */
	u32 timed[2];
	/* The tick of the last completion, or when the first request came to an idle device. */
	u32 alive;
	/* What the next read takes if the guess is right on which it is sent here, 0 if on none. */
	u32 guess_ns;
	/* The last sample was no transfer: bios merged with it have no time of their own. */
	bool merged;

	struct btrfs_rr_slot slots[BTRFS_RR_SLOTS] ____cacheline_aligned_in_smp;
} ____cacheline_aligned_in_smp;

/* A request in flight. */
struct btrfs_read_charge {
	/* What was counted, 0 for nothing, and where the request ends. */
	u64 load;
	u64 end;
	/* When it was sent, 0 if it is not timed. */
	u64 start_ns;
	/* On flash, which does many at once, all that was ahead in eighths of a seek. */
	u32 ahead;
	/* What it was guessed to take if the device has recovered, 0 if that is not asked. */
	u32 guess_ns;
};

/* Settings, per filesystem. */
struct btrfs_read_policy_info {
	/* Is the policy one that needs to know the load of devices? */
	bool count_load;
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
	/* The physical address is not known before the mirror is. */
	bool unknown_pos;
};

extern const struct attribute_group btrfs_read_policy_attr_group;
extern struct kobj_attribute btrfs_attr_read_policy;
extern struct kobj_attribute btrfs_attr_devid_read_stats;

int btrfs_read_policy_parse(const char *text, struct btrfs_read_policy_choice *choice);
void btrfs_read_policy_init(struct btrfs_fs_info *fs_info);
struct btrfs_read_policy_choice btrfs_read_policy_get(const struct btrfs_fs_info *fs_info);
int btrfs_read_policy_set(struct btrfs_fs_info *fs_info,
			  const struct btrfs_read_policy_choice *choice);
void btrfs_read_policy_show_option(struct seq_file *seq, struct btrfs_fs_info *fs_info);

int btrfs_read_policy_pick(struct btrfs_fs_info *fs_info, const struct btrfs_chunk_map *map,
			   int first, int nr, struct btrfs_read_request *req);

void btrfs_read_load_forget(struct btrfs_read_load *load);
void btrfs_read_load_charge(const struct btrfs_read_policy_info *info, struct btrfs_device *device,
			    const struct bio *bio, struct btrfs_read_charge *charge);
void btrfs_read_load_uncharge(struct btrfs_device *device, struct bio *bio,
			      struct btrfs_read_charge *charge);

#endif
