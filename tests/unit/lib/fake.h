/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A made-up machine for the library: devices, chunks and sysfs files in memory,
 * a kernel that obeys roles or not, and a switch that makes the nth call fail.
 */
#ifndef FAKE_H
#define FAKE_H

#include "balance/plan.h"
#include "core/roles.h"
#include "settings/settings.h"

#define FAKE_DEVICES 40
#define FAKE_CHUNKS 1024
#define FAKE_STRIPES 80
#define FAKE_FILES 16

#define FAKE_FSID "00010203-0405-0607-0809-0a0b0c0d0e0f"
#define GiB (1024ULL * 1024 * 1024)
#define MiB (1024ULL * 1024)

enum fake_kernel { FAKE_STOCK, FAKE_OURS, FAKE_HINT, FAKE_UPSTREAM };

struct fake_device {
	uint64_t devid;
	uint64_t type;
	uint64_t size;
	bool missing;
	enum btrfs_policy_tristate rotational;
	const char *transport; /* NULL: sata */
	uint64_t end; /* of the last stripe that was ever allocated there */
	bool has_holes;
};

struct fake_chunk {
	uint64_t logical;
	uint64_t length;
	uint64_t used;
	uint64_t type;
	uint32_t stripes;
	uint64_t devids[FAKE_STRIPES];
	uint64_t offsets[FAKE_STRIPES];
};

struct fake_file {
	char name[96];
	char text[160];
	bool stubborn; /* takes every write and keeps its text */
	int write_error;
};

struct fake_entry {
	char *name;
	char text[256];
};

struct fake {
	enum fake_kernel kernel;
	struct fake_device devices[FAKE_DEVICES];
	size_t device_count;
	struct fake_chunk chunks[FAKE_CHUNKS];
	size_t chunk_count;
	/* In place of chunks: so many of 1 GiB, RAID1 on neighbours, made up as they are read. */
	uint64_t sparse_chunks;
	struct fake_file files[FAKE_FILES];
	size_t file_count;
	bool read_only;
	bool write_protected; /* no device is writeable */
	bool seed; /* and the superblocks say that it is one */
	bool seed_of_other; /* they have the FSID of another file system */
	bool unprivileged;
	bool group_tree;
	bool remap_tree; /* items of block groups are longer */
	bool mixed;
	bool zoned;
	bool ignores_roles;
	bool no_sysfs; /* a chroot without /sys */
	bool boots; /* /boot is on it */
	const char *label;
	const char *mounts[4];
	const char *mount_type; /* of "/other" */

	/* Failing: call number `fail_at` (from 1) returns `fail_with`. */
	unsigned int calls;
	uint64_t items; /* of trees, handed out */
	unsigned int fail_at;
	bool fail_on; /* and every call after it */
	int fail_with;

	/* The search hands out this many items at a time; 0: as many as fit. */
	uint32_t items_at_once;
	/* Damage: cut this many bytes off items of this type, or stay on one key. */
	uint32_t cut_type;
	uint32_t cut_bytes;
	bool backwards;

	/* Balance: the result of the nth one (from 1) instead of its work. */
	unsigned int balances;
	unsigned int balance_special;
	unsigned int balance_again; /* so many after it, too */
	bool balance_every_other;
	int balance_result;
	uint64_t balance_state;
	bool balance_skips;
	bool allocator_errs; /* it places chunks as if there were no roles */
	/* If set, called on ENOSPC; may change the machine. */
	bool (*refuses)(struct fake *fake, uint64_t logical);
	bool refuses_paused;	/* and a pause was asked for meanwhile */
	uint64_t moved[FAKE_CHUNKS];
	/* A balance that is there: its filters and state; paused if not RUNNING. */
	struct btrfs_ioctl_balance_args interrupted;
	unsigned int interrupted_scans; /* how many it lasts if it runs */
	uint64_t interrupted_then; /* then it is about this chunk, for ever; 0: it ends */
	int resume_result; /* of resuming it: another process did */
	uint64_t resume_state; /* the state that the kernel returns then */
	struct btrfs_ioctl_balance_args asked; /* the last balance */
	/* Number of reads until the other operation ends. */
	unsigned int busy_scans;
	const char *busy_name; /* its name; NULL: "device add" */
	bool busy_by_user; /* and it is the balance of a user */
	unsigned int busy_after; /* the nth balance: it begins then, for six reads */

	/* Moved stripes: the result of the nth item (from 1), and so many after it; or of a chunk. */
	unsigned int stripe_moves;
	unsigned int stripe_special;
	unsigned int stripe_again;
	uint64_t stripe_chunk;
	int stripe_result;
	uint32_t stripe_reason;
	bool stripe_call; /* it is the result of the call, too */
	struct { uint64_t chunk, stripe, devid; } stripes[FAKE_CHUNKS]; /* as asked */

	/* The roles ioctl. */
	unsigned int role_calls;
	int roles_result;
	uint32_t roles_reason;

	/* Devices that could be added are /dev/fake<devid>, each with the next devid. */
	const char *signatures[FAKE_DEVICES + 1]; /* by devid */
	uint64_t renumbered; /* devid of one whose path has become that of another device */
	uint64_t in_use; /* devid of one that is mounted elsewhere */
	unsigned int add_calls;
	unsigned int add_fails_at; /* the nth call */
	int add_result;
	bool adds_without_role; /* a kernel before that ioctl */

	/* Files of sysfs as recorded; none: they are made up. */
	struct fake_entry *tree;
	size_t tree_count;

	/* Settings that outlive a mount: "" for no file. */
	char saved[1024];
	char drained[256]; /* the roles before a drain */
	unsigned int removed; /* devices */
	int remove_error;
	int saved_error; /* of writing them */
	const char *saved_by_other; /* the process that has the lock until we get it */
	bool saved_locked;
	/* Number of reads of the bdi device "btrfs-1" until its mount is complete. */
	unsigned int mount_scans;

	uint64_t clock;
	unsigned int naps;
	void (*on_nap)(struct fake *fake);
	void (*on_write)(struct fake *fake); /* before each write, of a signature or a device too */
	unsigned int syncs;
};

extern const struct bp_backend fake_backend;

/* fake-tree.c, fake-sysfs.c, fake-balance.c: parts of the backend */
int fake_tree_search(void *self, struct btrfs_ioctl_search_args_v2 *args);
int fake_sysfs_exists(void *self, const char *name);
int fake_sysfs_read(void *self, const char *name, char *buf, size_t size);
int fake_sysfs_write(void *self, const char *name, const char *text);
/* The effect of a write to a file that reads `now`. */
int fake_store(char *now, size_t size, const char *wanted);
int fake_roles(void *self, struct btrfs_ioctl_device_roles_args *args);
int fake_balance(void *self, struct btrfs_ioctl_balance_args *args);
int fake_move_stripes(void *self, struct btrfs_ioctl_move_stripes_args *args);
int fake_balance_state(void *self, struct btrfs_ioctl_balance_args *args);
bool fake_fails(struct fake *fake);

/* fake-recorded.c */
int fake_load_tree(struct fake *fake, const char *path);
int fake_recorded_exists(const struct fake *fake, const char *name);
int fake_recorded_read(const struct fake *fake, const char *name, char *buf, size_t size);
int fake_recorded_write(struct fake *fake, const char *name, const char *text);

void fake_init(struct fake *fake, enum fake_kernel kernel);
struct fake_device *fake_add_device(struct fake *fake, uint64_t size, uint64_t disk_type,
				    bool rotational);
struct fake_chunk *fake_add_chunk(struct fake *fake, uint64_t type, uint64_t length,
				  uint64_t used, uint32_t stripes, ...);
struct fake_device *fake_device_find(struct fake *fake, uint64_t devid);
struct fake_file *fake_file(struct fake *fake, const char *name);
void fake_set_file(struct fake *fake, const char *name, const char *text);
uint64_t fake_unallocated(const struct fake *fake, const struct fake_device *device);
/* Bytes of the first hole of at least `wanted` bytes, else of the longest one. */
uint64_t fake_hole(const struct fake *fake, const struct fake_device *device, uint64_t wanted,
		   uint64_t *start);
uint64_t fake_stripe_length(const struct fake_chunk *chunk);
/* Adds the chunk after the last one, which lacks only its addresses, and sets them. */
struct fake_chunk *fake_place_chunk(struct fake *fake);
void fake_remove_chunk(struct fake *fake, size_t index);
struct btrfs_policy_fs *fake_open(struct fake *fake);
/* A kernel that moves stripes. */
void fake_can_move_stripes(struct fake *fake);
/* Everything that can be changed, as text; to be freed. */
char *fake_state(const struct fake *fake);
/* Two SSDs (devid 1, 2) and two HDDs (3, 4), all chunks RAID1 on the HDDs. */
void fake_two_and_two(struct fake *fake, enum fake_kernel kernel, uint64_t ssd_type,
		      uint64_t hdd_type);

#define FAKE_MAY_FAIL(fake)			\
	do {					\
		if (fake_fails(fake))		\
			return (fake)->fail_with; \
	} while (0)

#endif
