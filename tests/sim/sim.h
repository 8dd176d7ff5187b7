/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulation of mirrored reads: the read policy as the kernel compiles it, what
 * of the block layer and the page cache matters for it, and models of disks.
 * Time is that of the models; nothing depends on the host.
 */
#ifndef SIM_H
#define SIM_H

#include <ucontext.h>
#include "kernel.h"
#include "labdisk-model.h"

#define DISKS_MAX	4
#define SIM_MIB		(1ull << 20)

/* How the mirror is chosen. */
enum policy { PID, LEAST_QUEUE, MD, ROUNDROBIN };

/* sched.c: tasks take turns by themselves, time goes on when all of them wait */
struct task {
	struct task_struct k;
	ucontext_t context;
	char *stack;
	void (*run)(struct task *task);
	void *arg;
	bool runnable, done;
	u64 wake_at;
	struct task *next;
	struct plug *plug;
};

extern u64 sim_now;
extern struct task *sim_task;

void sim_reset(void);
struct task *task_start(u32 pid, void (*run)(struct task *), void *arg);
void task_wait(void);
void task_wake(struct task *task);
void wake_all(void);
void task_sleep(u64 ns);
/* Until the task @until is done, or all of them. */
void sim_run(const struct task *until);

/* block.c: what is between a bio and the model of the disk */
struct sim_bio {
	struct bio bio;
	struct btrfs_read_charge charge;
	struct btrfs_device *dev;
	int disk;
	u32 pieces;
	void (*end)(struct sim_bio *bio);
	void *private;
	u64 offset;
};

struct plug { struct request *first, *last; int nr; };

/* What may happen to a disk while it works. */
struct sim_disk {
	struct lm_disk *model;
	struct btrfs_device dev;
	struct block_device bdev;
	struct request_queue queue;
	u64 reads, read_bytes;
	/* For tests: when the last read of data was sent. */
	u64 last_sent;
	/* As md keeps them: where the last read ends that was sent, and that was done. */
	u64 next_pos, head;
	int pending;
};

/* The kind of all hard disks. */
extern const char *block_hard_disk;
extern struct sim_disk disks[DISKS_MAX];
extern int nr_disks;

void block_reset(void);
void block_add_disk(const char *spec, const char *model, u64 seed);
void block_submit(struct sim_bio *bio);
void block_plug(struct plug *plug);
void block_unplug(void);
u64 block_next(void);
void block_poll(void);
u32 block_in_flight(int disk);

/* array.c: chunks, policies, and a read of the file system */
struct array_layout { int copies; bool raid10; };

extern enum policy array_policy;
extern bool array_trace;
extern struct btrfs_fs_info fs_info;
/* The penalties of the next arrays. */
extern struct btrfs_read_policy_info array_settings;

void array_reset(struct array_layout layout, u64 seed, bool cold);
void array_read(u64 logical, u64 len, void (*end)(struct sim_bio *), void *private, u64 offset);
void array_read_inode(u64 nr);

/* work.c: what tasks do with files */
struct file { u64 logical, size; u64 inode; };

struct job {
	/* Several files one after the other, from a list. */
	const struct file *files;
	int nr_files;
	u64 ra_bytes, bio_bytes, block;
	int depth;
	u64 seed, stop_at, start_after;
	/* Results. */
	u64 bytes, ios, ended, latency_sum, *latency;
};

void job_stream(struct task *task);
void job_direct(struct task *task);
void job_random(struct task *task);

#endif
