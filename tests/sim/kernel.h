/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The words of the kernel that kernel/fs/btrfs/read-policy*.c use, for one thread
 * in user space.  Included before anything else of those files; their own includes
 * of the kernel find empty files.
 */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef int8_t s8;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef u64 sector_t;

#define U8_MAX		UINT8_MAX
#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX
#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))
#define SZ_16K		0x4000
#define SZ_64K		0x10000
#define SZ_128K		0x20000
#define SZ_256K		0x40000
#define SZ_512K		0x80000
#define SZ_1M		0x100000
#define SZ_2M		0x200000
#define SZ_4M		0x400000
#define SZ_8M		0x800000
#define SZ_1G		0x40000000
#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_SEC	1000000000L
#define PAGE_SHIFT	12
#define SECTOR_SHIFT	9

#define min(a, b)		({ __typeof__(a) x_ = (a); __typeof__(b) y_ = (b); x_ < y_ ? x_ : y_; })
#define max(a, b)		({ __typeof__(a) x_ = (a); __typeof__(b) y_ = (b); x_ > y_ ? x_ : y_; })
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define clamp_t(t, v, lo, hi)	min_t(t, max_t(t, v, lo), hi)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d)	DIV_ROUND_UP((u64)(n), d)
#define round_up(n, to)		((((n) - 1) | ((__typeof__(n))(to) - 1)) + 1)

#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))
#define WARN_ON_ONCE(x)		(x)
#define ____cacheline_aligned_in_smp
#define DEFINE_PER_CPU(type, name)	type name
#define this_cpu_read(x)	(x)
#define this_cpu_write(x, value)	((x) = (value))
#define noinline		__attribute__((noinline))

typedef struct { s64 v; } atomic64_t;

static inline s64 atomic64_read(const atomic64_t *a) { return a->v; }
static inline s64 atomic64_read_acquire(const atomic64_t *a) { return a->v; }
static inline s64 atomic64_add_return(s64 n, atomic64_t *a) { return a->v += n; }
static inline s64 atomic64_sub_return_release(s64 n, atomic64_t *a) { return a->v -= n; }
static inline int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
static inline u64 div64_u64(u64 a, u64 b) { return a / b; }
static inline u64 div_u64(u64 a, u32 b) { return a / b; }
static inline s64 div_s64(s64 a, s32 b) { return a / b; }

/* The clock and who is running are the simulation's. */
struct task_struct { u32 pid; };
extern struct task_struct *current;
u64 ktime_get_ns(void);
#define HZ		100
#define jiffies		((unsigned long)(ktime_get_ns() / (10 * NSEC_PER_MSEC)))

enum { REQ_OP_READ, REQ_OP_WRITE, REQ_RAHEAD = 1 << 19 };
enum { BIO_REMAPPED, BTRFS_DEV_STATE_MISSING };

struct request_queue { unsigned long nr_requests; u32 max_bytes; };

struct block_device { bool rot; u64 bd_start_sect; struct request_queue *bd_queue; };


struct bio {
	struct { sector_t bi_sector; u32 bi_size; } bi_iter;
	struct block_device *bi_bdev;
	u32 bi_opf;
	int bi_status;
};

static inline bool bdev_rot(const struct block_device *bdev) { return bdev->rot; }
static inline struct request_queue *bdev_get_queue(struct block_device *bdev) { return bdev->bd_queue; }
static inline u32 queue_max_bytes(struct request_queue *q) { return q->max_bytes; }
static inline int bio_op(const struct bio *bio) { return bio->bi_opf & 255; }
static inline bool bio_flagged(const struct bio *bio, int flag) { (void)bio; (void)flag; return false; }
static inline sector_t bio_end_sector(const struct bio *bio)
{
	return bio->bi_iter.bi_sector + (bio->bi_iter.bi_size >> SECTOR_SHIFT);
}
static inline bool test_bit(int bit, const unsigned long *word) { return *word >> bit & 1; }

#include "read-policy.h"

#define BTRFS_BLOCK_GROUP_DATA	1

struct btrfs_device {
	struct block_device *bdev;
	unsigned long dev_state;
	struct btrfs_read_load read_load;
};

struct btrfs_io_stripe { struct btrfs_device *dev; u64 physical; };

struct btrfs_chunk_map { u64 type; int num_stripes; struct btrfs_io_stripe stripes[200]; };

enum { BTRFS_DEV_REPLACE_ITEM_CONT_READING_FROM_SRCDEV_MODE_AVOID = 1 };

struct btrfs_dev_replace {
	bool is_valid;
	int cont_reading_from_srcdev_mode;
	struct btrfs_device *srcdev;
};

static inline bool btrfs_dev_replace_is_ongoing(struct btrfs_dev_replace *replace) { return replace->is_valid; }

struct btrfs_fs_info {
	struct btrfs_read_policy_info read_policy;
	struct btrfs_dev_replace dev_replace;
};

#endif
