/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of btrfs-policy.h, which includes it: snapshots of the placement of
 * chunks.  The conventions at the top of btrfs-policy.h hold here too.  Do not
 * include it alone.
 */
#ifndef BTRFS_POLICY_H
#error "include <btrfs-policy.h>"
#endif
#ifndef BTRFS_POLICY_PLACEMENT_H
#define BTRFS_POLICY_PLACEMENT_H

/* ---- Placement ---------------------------------------------------------- */

/**
 * enum btrfs_policy_misplaced - the reason why a chunk is misplaced
 * @BTRFS_POLICY_PLACED: it is correctly placed
 * @BTRFS_POLICY_ON_EXCLUDED: a stripe is on a device whose role excludes its kind
 * @BTRFS_POLICY_ON_SECOND_CHOICE: a stripe is on a second-choice device while
 *	first-choice devices could hold it
 *
 * "Could hold it" is exact, and the same rule as the kernel's counters use:
 * - Profiles with a fixed number of devices (single, DUP, RAID1*): a first-choice
 *   device without a stripe of the chunk has as much unallocated space as the
 *   chunk takes on one device.  Each such device can relieve one second-choice
 *   device.
 * - Striped profiles (RAID0, 10, 5, 6): the first-choice devices that hold the
 *   chunk, together with those that have such space, are enough for a chunk of the
 *   profile.
 * So a RAID1 metadata chunk with one copy on the only metadata-preferred SSD and
 * the other on a disk is correctly placed; one with both copies on disks is
 * misplaced, unless the SSD has no unallocated space.
 */
enum btrfs_policy_misplaced {
	BTRFS_POLICY_PLACED = 0,
	BTRFS_POLICY_ON_EXCLUDED = 1,
	BTRFS_POLICY_ON_SECOND_CHOICE = 2,
};

/** struct btrfs_policy_placement - a snapshot of all chunks; opaque */
struct btrfs_policy_placement;

/**
 * struct btrfs_policy_chunk - one chunk
 * @logical: logical address of its first byte
 * @length: bytes of the logical address space it covers
 * @used: bytes of those in use
 * @type: type and profile flags as in the chunk item
 * @kind: kind of its contents
 * @profile: "single", "DUP", "RAID1", ...
 * @misplaced: the reason if it is misplaced by the roles on disk
 * @stripe_length: bytes that each stripe takes on its device
 * @stripes: number of stripes
 * @devids: device of each stripe
 * @offsets: where each stripe begins on its device
 */
struct btrfs_policy_chunk {
	uint64_t logical;
	uint64_t length;
	uint64_t used;
	uint64_t type;
	enum btrfs_policy_kind kind;
	const char *profile;
	enum btrfs_policy_misplaced misplaced;
	uint64_t stripe_length;
	uint32_t stripes;
	const uint64_t *devids;
	const uint64_t *offsets;
};

/**
 * struct btrfs_policy_profile_usage - all chunks of one kind and profile
 * @kind: kind
 * @profile: name of the profile
 * @type: type and profile flags
 * @size: logical bytes of the chunks
 * @used: bytes of those in use
 * @chunks: number of chunks
 * @misplaced_chunks: number of misplaced ones
 * @misplaced_size: logical bytes of those
 * @misplaced_used: bytes of those in use
 * @devices_min: devices that a chunk of the profile needs at least, 1 to 4
 */
struct btrfs_policy_profile_usage {
	enum btrfs_policy_kind kind;
	const char *profile;
	uint64_t type;
	uint64_t size;
	uint64_t used;
	uint64_t chunks;
	uint64_t misplaced_chunks;
	uint64_t misplaced_size;
	uint64_t misplaced_used;
	uint32_t devices_min;
};

/**
 * struct btrfs_policy_device_usage - usage of one device
 * @devid: device
 * @size: bytes of it that btrfs uses
 * @unallocated: bytes without a chunk
 * @bytes: bytes that chunks of each kind occupy (indexed by kind)
 * @chunks: number of chunks of each kind with a stripe here
 * @misplaced_bytes: of @bytes, those that should not be here: stripes of a kind
 *	that the device's role excludes, and stripes of misplaced chunks on a
 *	device that is second choice for them
 * @role: role used to classify chunks
 */
struct btrfs_policy_device_usage {
	uint64_t devid;
	uint64_t size;
	uint64_t unallocated;
	uint64_t bytes[BTRFS_POLICY_KINDS];
	uint64_t chunks[BTRFS_POLICY_KINDS];
	uint64_t misplaced_bytes[BTRFS_POLICY_KINDS];
	enum btrfs_policy_role role;
};

/**
 * btrfs_policy_placement_read() - read a snapshot of all chunks
 * @fs: open handle
 * @placement: receives the snapshot, to be freed with
 *	btrfs_policy_placement_free(); it does not need @fs afterwards
 *
 * Needs CAP_SYS_ADMIN.  Works on every kernel, also on those that ignore roles:
 * they are then classified by the roles on disk.  Devices and roles are those of the
 * last open or refresh.  The file system stays in use; a chunk that is created or
 * removed during the walk may be missing.
 *
 * Return: 0; -EPERM, -EUCLEAN, -EIO, -ENOMEM.
 */
int btrfs_policy_placement_read(struct btrfs_policy_fs *fs,
				struct btrfs_policy_placement **placement);

/**
 * btrfs_policy_placement_free() - free a snapshot
 * @placement: snapshot or NULL
 */
void btrfs_policy_placement_free(struct btrfs_policy_placement *placement);

/**
 * btrfs_policy_placement_chunk() - one chunk, in ascending order of address
 * @placement: snapshot
 * @index: from 0
 *
 * Return: the chunk, or NULL behind the last one.
 */
const struct btrfs_policy_chunk *
btrfs_policy_placement_chunk(const struct btrfs_policy_placement *placement, size_t index);

/**
 * btrfs_policy_placement_profile() - sums of one kind and profile
 * @placement: snapshot
 * @index: from 0; ordered data, metadata, system, mixed, then by profile
 *
 * Return: the sums, or NULL behind the last one.
 */
const struct btrfs_policy_profile_usage *
btrfs_policy_placement_profile(const struct btrfs_policy_placement *placement, size_t index);

/**
 * btrfs_policy_placement_device() - sums of one device
 * @placement: snapshot
 * @index: from 0, ascending devid
 *
 * Return: the sums, or NULL behind the last one.
 */
const struct btrfs_policy_device_usage *
btrfs_policy_placement_device(const struct btrfs_policy_placement *placement, size_t index);

/**
 * struct btrfs_policy_totals - sums of a snapshot or a plan
 * @chunks: chunks that roles apply to and others
 * @misplaced_chunks: misplaced ones
 * @misplaced_size: logical bytes of those
 * @misplaced_used: bytes of those in use
 * @misplaced_by_kind: number of misplaced chunks of each kind
 */
struct btrfs_policy_totals {
	uint64_t chunks;
	uint64_t misplaced_chunks;
	uint64_t misplaced_size;
	uint64_t misplaced_used;
	uint64_t misplaced_by_kind[BTRFS_POLICY_KINDS];
};

/**
 * btrfs_policy_placement_totals() - sums of the whole snapshot
 * @placement: snapshot
 *
 * Return: the sums.
 */
const struct btrfs_policy_totals *
btrfs_policy_placement_totals(const struct btrfs_policy_placement *placement);

/**
 * btrfs_policy_placement_only_draining() - leave all other chunks where they are
 * @fs: open handle, for the error text
 * @placement: snapshot; of its misplaced chunks only those with a stripe on a draining
 *	device stay misplaced, and plans move no others
 *
 * Return: 0 or -ENOMEM, after which @placement can only be freed.
 */
int btrfs_policy_placement_only_draining(struct btrfs_policy_fs *fs,
					 struct btrfs_policy_placement *placement);

/**
 * btrfs_policy_placement_assume() - change a snapshot to assumed roles or devices
 * @fs: open handle that the snapshot was read with
 * @placement: snapshot; it is changed, and its chunks are classified again
 * @text: the assumptions, separated by commas:
 *	`<role>=<device>`: the device has that role (further devices may follow, each
 *	behind a comma; devices as for btrfs_policy_device_select()); the role may be
 *	`draining`, too;
 *	`data=<profile>`, `metadata=<profile>`, `system=<profile>`: new chunks have
 *	that profile;
 *	`add=<size>[:<role>]`: there is one more device, of 1 PiB at most;
 *	`lose=<device>`: the device is gone
 *
 * Return: 0; -EINVAL, -ENODEV (@fs was refreshed: read a new snapshot) and others of
 * btrfs_policy_device_select(), after which @placement can only be freed; -ENOMEM.
 */
int btrfs_policy_placement_assume(struct btrfs_policy_fs *fs,
				  struct btrfs_policy_placement *placement, const char *text);

/**
 * struct btrfs_policy_remaining_capacity - remaining capacity, by simulating the allocator
 * @data: bytes of data that could still be stored, assuming no metadata is added
 * @metadata: bytes of metadata that could still be stored, assuming no data is added
 * @data_profile: profile that new data chunks would get
 * @metadata_profile: the same of metadata
 * @degraded_chunks: chunks that would lack a device but no contents
 * @lost_chunks: chunks that would lose contents
 */
struct btrfs_policy_remaining_capacity {
	uint64_t data;
	uint64_t metadata;
	const char *data_profile;
	const char *metadata_profile;
	uint64_t degraded_chunks;
	uint64_t lost_chunks;
};

/**
 * btrfs_policy_placement_capacity() - remaining capacity for data and metadata
 * @fs: handle
 * @placement: snapshot, as read or with assumptions
 * @capacity: receives the figures
 *
 * Each figure is the free space in chunks, and the chunks that the allocator would
 * make until the devices are full.  Data and metadata compete for unallocated space,
 * so the sum of both figures is more than can be stored.
 *
 * Return: 0 or -ENOMEM.
 */
int btrfs_policy_placement_capacity(struct btrfs_policy_fs *fs,
				    struct btrfs_policy_placement *placement,
				    struct btrfs_policy_remaining_capacity *capacity);

/**
 * struct btrfs_policy_outlook - how far data and metadata can grow
 * @data_used: bytes of data now
 * @data_more: bytes of data that could still be stored, assuming no metadata is added
 * @data_profile: profile that new data chunks would get
 * @metadata_used: bytes of metadata now
 * @metadata_more: bytes of metadata that could still be stored, assuming no data is
 *	added; without @metadata_kept
 * @metadata_kept: bytes that the kernel keeps free for itself (the global reserve),
 *	0 if it does not show them
 * @metadata_profile: profile that new metadata chunks would get
 * @metadata_percent: @metadata_used in percent of @metadata_used and @metadata_more
 * @metadata_little: metadata could not grow to ten times what it uses, or not to a
 *	tenth of @data_used and @data_more
 */
struct btrfs_policy_outlook {
	uint64_t data_used;
	uint64_t data_more;
	const char *data_profile;
	uint64_t metadata_used;
	uint64_t metadata_more;
	uint64_t metadata_kept;
	const char *metadata_profile;
	unsigned int metadata_percent;
	bool metadata_little;
};

/**
 * btrfs_policy_placement_outlook() - how far data and metadata can grow
 * @fs: handle
 * @placement: snapshot, as read or with assumptions
 * @moved: count space for metadata as if the plan of btrfs_policy_plan_new() had
 *	been carried out
 * @outlook: receives the figures
 *
 * Return: 0; -EOPNOTSUPP for mixed block groups; with @moved those of
 * btrfs_policy_plan_new(); -ENOMEM.
 */
int btrfs_policy_placement_outlook(struct btrfs_policy_fs *fs,
				   struct btrfs_policy_placement *placement, bool moved,
				   struct btrfs_policy_outlook *outlook);

#endif
