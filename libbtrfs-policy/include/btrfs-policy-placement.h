/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of btrfs-policy.h, which includes it: snapshots of the placement of
 * chunks, the plan that moves misplaced chunks, and the balance that carries
 * it out.  The conventions at the top of btrfs-policy.h hold here too.  Do not
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
 * btrfs_policy_placement_assume() - change a snapshot to assumed roles or devices
 * @fs: open handle that the snapshot was read with
 * @placement: snapshot; it is changed, and its chunks are classified again
 * @text: the assumptions, separated by commas:
 *	`<role>=<device>`: the device has that role (further devices may follow, each
 *	behind a comma; devices as for btrfs_policy_device_select());
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

/* ---- Plan --------------------------------------------------------------- */

/** struct btrfs_policy_plan - ordered steps that move misplaced chunks; opaque */
struct btrfs_policy_plan;

/**
 * struct btrfs_policy_step_space - one device around one step
 * @devid: device
 * @before: bytes without a chunk before the step
 * @least: the same while the data that is moved exists in both places
 * @after: the same after the step
 */
struct btrfs_policy_step_space {
	uint64_t devid;
	uint64_t before;
	uint64_t least;
	uint64_t after;
};

/**
 * struct btrfs_policy_step - move one chunk
 * @chunk: the chunk before the plan starts; its @misplaced is the reason for the move
 *	(BTRFS_POLICY_PLACED: earlier steps free space on better devices)
 * @targets: number of stripes of the new chunk; 0 if the chunk is empty, or if all
 *	its data goes into existing chunks
 * @target_devids: devices of the new chunk, as the kernel would choose them
 * @target_stripe_length: bytes of a stripe of the new chunk
 * @space_count: number of devices whose unallocated space the step changes
 * @spaces: those devices
 */
struct btrfs_policy_step {
	const struct btrfs_policy_chunk *chunk;
	uint32_t targets;
	const uint64_t *target_devids;
	uint64_t target_stripe_length;
	size_t space_count;
	const struct btrfs_policy_step_space *spaces;
};

/**
 * struct btrfs_policy_plan_device - a device before and after a plan
 * @devid: device
 * @role: its role
 * @unallocated_before: bytes without a chunk now
 * @unallocated_after: the same after the last step
 * @bytes_before: bytes of each kind now
 * @bytes_after: the same after the last step
 */
struct btrfs_policy_plan_device {
	uint64_t devid;
	enum btrfs_policy_role role;
	uint64_t unallocated_before;
	uint64_t unallocated_after;
	uint64_t bytes_before[BTRFS_POLICY_KINDS];
	uint64_t bytes_after[BTRFS_POLICY_KINDS];
};

/**
 * btrfs_policy_plan_new() - plan from a snapshot
 * @fs: handle, for the error text; need not be open
 * @placement: snapshot; the plan keeps no pointer to it
 * @limit: plan at most this many steps, 0 for no limit
 * @plan: receives the plan, to be freed with btrfs_policy_plan_free()
 *
 * Order: metadata as soon as it has space, before that data on devices that exclude
 * it, then system, then the rest of the data; within each the least used chunk
 * first.  Data is moved only into correctly placed chunks or new ones, never into a
 * chunk that would itself have to be moved.  During every step and after it
 * - another data, metadata and system chunk can be made (if that was possible
 *   before), and
 * - the slack of metadata, free in its chunks and unallocated on devices that take
 *   it, is not below @slack_floor of the summary (if it is below already, it does
 *   not decrease).  The floor is the largest of: free space in metadata chunks at
 *   the beginning, a tenth of the metadata in use, and one chunk of full size beside
 *   the global reserve; but at most half of the slack at the end, since small arrays
 *   could never have as much.
 * If there is no such order the plan is empty and btrfs_policy_plan_blocked() gives
 * the reason.  Up to seven chunks every order is tried; with more, the search may
 * miss an unusual order.  The function does not write to any device.
 *
 * Return: 0 (also if there is nothing to do); -EINVAL for a snapshot that assumes
 * other profiles; -EOPNOTSUPP for a file system with the feature remap-tree; -ENOMEM.
 */
int btrfs_policy_plan_new(struct btrfs_policy_fs *fs,
			  const struct btrfs_policy_placement *placement,
			  uint64_t limit, struct btrfs_policy_plan **plan);

/**
 * btrfs_policy_plan_free() - free a plan
 * @plan: plan or NULL
 */
void btrfs_policy_plan_free(struct btrfs_policy_plan *plan);

/**
 * btrfs_policy_plan_step() - one step, in order
 * @plan: plan
 * @index: from 0
 *
 * Return: the step, or NULL behind the last one.
 */
const struct btrfs_policy_step *
btrfs_policy_plan_step(const struct btrfs_policy_plan *plan, size_t index);

/**
 * btrfs_policy_plan_device() - a device before and after
 * @plan: plan
 * @index: from 0, ascending devid
 *
 * Return: the device, or NULL behind the last one.
 */
const struct btrfs_policy_plan_device *
btrfs_policy_plan_device(const struct btrfs_policy_plan *plan, size_t index);

/**
 * struct btrfs_policy_plan_summary - a plan in numbers
 * @chunks: chunks of the file system
 * @misplaced: misplaced chunks before
 * @steps: chunks that the plan moves
 * @size: logical bytes of those
 * @used: bytes of those in use, which is about what has to be read and written
 * @blocked: misplaced chunks if there is no safe order, and so no step
 * @short_bytes: free space that the first blocked chunk lacks
 * @beyond_limit: chunks left out because of the limit
 * @slack_before: bytes that metadata can still grow by now
 * @slack_after: the same after the last step without a limit; as before if there is no step
 * @slack_floor: bytes that the plan keeps at every step
 * @least_seconds: estimated time of the steps on fast devices
 * @most_seconds: the same on slow devices
 */
struct btrfs_policy_plan_summary {
	uint64_t chunks;
	uint64_t misplaced;
	uint64_t steps;
	uint64_t size;
	uint64_t used;
	uint64_t blocked;
	uint64_t short_bytes;
	uint64_t beyond_limit;
	uint64_t slack_before;
	uint64_t slack_after;
	uint64_t slack_floor;
	uint64_t least_seconds;
	uint64_t most_seconds;
};

/**
 * btrfs_policy_plan_summary() - a plan in numbers
 * @plan: plan
 *
 * Return: the numbers.
 */
const struct btrfs_policy_plan_summary *
btrfs_policy_plan_summary(const struct btrfs_policy_plan *plan);

/**
 * btrfs_policy_plan_blocked() - the reason why misplaced chunks cannot be moved
 * @plan: plan
 *
 * Return: one line: the devices that lack space, how much, and the remedy; NULL if
 * every misplaced chunk has a step or lies beyond the limit.
 */
const char *btrfs_policy_plan_blocked(const struct btrfs_policy_plan *plan);

/**
 * btrfs_policy_plan_keeps_copies() - tell whether moved chunks keep their copies
 * @fs: handle, for the error text
 * @placement: snapshot that the plan was made from
 * @plan: plan
 *
 * Return: 0; -EOPNOTSUPP if the profile of one needs more writeable devices.
 */
int btrfs_policy_plan_keeps_copies(struct btrfs_policy_fs *fs,
				   const struct btrfs_policy_placement *placement,
				   const struct btrfs_policy_plan *plan);

/* ---- Balance ------------------------------------------------------------ */

/**
 * struct btrfs_policy_progress - progress of a balance
 * @chunks_done: chunks moved or tried
 * @chunks_total: chunks to move, from the newest plan, and deferred ones
 * @bytes_done: used bytes of the chunks done
 * @bytes_total: used bytes of all of them
 * @elapsed_ns: nanoseconds since the start
 * @logical: address of the chunk that is next or being moved, 0 at the end
 * @kind: kind of that chunk
 * @bytes_per_second: used bytes moved per second so far; 0 if not known yet
 * @seconds_left: time for the rest at that rate; -1 if not known yet
 */
struct btrfs_policy_progress {
	uint64_t chunks_done;
	uint64_t chunks_total;
	uint64_t bytes_done;
	uint64_t bytes_total;
	uint64_t elapsed_ns;
	uint64_t logical;
	enum btrfs_policy_kind kind;
	uint64_t bytes_per_second;
	int64_t seconds_left;
};

/**
 * struct btrfs_policy_balance_options - how to balance
 * @size: sizeof(struct btrfs_policy_balance_options)
 * @limit: move at most this many chunks, 0 for no limit
 * @enqueue: wait for another exclusive operation instead of giving up
 * @unenforced: run also on a kernel that ignores roles (placement cannot be
 *	steered there)
 * @progress: called before each chunk, after the last one and about twice a
 *	second while waiting; any value but 0 stops after the current chunk; may
 *	be NULL
 * @user: handed to @progress
 */
struct btrfs_policy_balance_options {
	size_t size;
	uint64_t limit;
	bool enqueue;
	bool unenforced;
	int (*progress)(const struct btrfs_policy_progress *progress, void *user);
	void *user;
};

/**
 * enum btrfs_policy_balance_end - the reason why a balance ended
 * @BTRFS_POLICY_END_DONE: no misplaced chunk is left that could be moved
 * @BTRFS_POLICY_END_LIMIT: the limit was reached
 * @BTRFS_POLICY_END_NO_SPACE: the kernel found no space for a chunk, also
 *	after it had moved all others that could be moved
 * @BTRFS_POLICY_END_CANCELED: a user ran `btrfs balance cancel`
 * @BTRFS_POLICY_END_PAUSED: a user ran `btrfs balance pause`
 * @BTRFS_POLICY_END_STOPPED: the progress callback asked to stop
 * @BTRFS_POLICY_END_FAILED: any other error; see the error text
 */
enum btrfs_policy_balance_end {
	BTRFS_POLICY_END_DONE = 0,
	BTRFS_POLICY_END_LIMIT = 1,
	BTRFS_POLICY_END_NO_SPACE = 2,
	BTRFS_POLICY_END_CANCELED = 3,
	BTRFS_POLICY_END_PAUSED = 4,
	BTRFS_POLICY_END_STOPPED = 5,
	BTRFS_POLICY_END_FAILED = 6,
};

/**
 * struct btrfs_policy_balance_report - the result of a balance
 * @end: the reason why it ended
 * @considered: chunks of the file system at the start, and those that were
 *	misplaced when another round began
 * @misplaced: misplaced chunks at the start and when another round began
 * @relocated: chunks moved
 * @relocated_used: bytes in use of those
 * @still_misplaced: misplaced chunks at the end, by a new scan
 * @moved_in_vain: chunks moved whose contents are still misplaced
 * @elapsed_ns: nanoseconds it took
 * @text: one line with the number of misplaced chunks left and the reason; "" if none is
 *	left
 */
struct btrfs_policy_balance_report {
	enum btrfs_policy_balance_end end;
	uint64_t considered;
	uint64_t misplaced;
	uint64_t relocated;
	uint64_t relocated_used;
	uint64_t still_misplaced;
	uint64_t moved_in_vain;
	uint64_t elapsed_ns;
	const char *text;
};

/**
 * btrfs_policy_balance_check() - tell whether a balance could start now
 * @fs: open handle
 * @options: how, or NULL for all defaults
 *
 * Finds the errors of btrfs_policy_balance() that do not depend on chunks, so that a
 * caller can report them before it detaches.
 *
 * Return: 0, or what btrfs_policy_balance() would return.
 */
int btrfs_policy_balance_check(struct btrfs_policy_fs *fs,
			       const struct btrfs_policy_balance_options *options);

/**
 * btrfs_policy_balance() - move misplaced chunks, one after the other
 * @fs: open handle; it is refreshed before each chunk
 * @options: how, or NULL for all defaults
 * @report: receives the result, on failure too (NULL only if it could not
 *	start), to be freed with btrfs_policy_balance_report_free()
 *
 * Plans, moves one chunk with the kernel's balance, reads a new snapshot, and repeats
 * this until no misplaced chunk is left that could be moved.  `btrfs balance status`, `pause` and
 * `cancel` work on it.  A chunk is never moved twice by one call.  If the
 * kernel finds no space for a chunk, the chunk is deferred until others have moved.
 * An interrupted balance of an earlier call, paused or resumed by the kernel at
 * mount, is finished first.
 *
 * Return: 0 if it ended with DONE or LIMIT (see @still_misplaced: new chunks and
 * chunks that were misplaced again are not tried twice);
 * -ENOSPC, -ECANCELED (cancelled, paused or stopped),
 * -EBUSY, -EOPNOTSUPP, -EROFS, -EPERM, or another error of the kernel.
 */
int btrfs_policy_balance(struct btrfs_policy_fs *fs,
			 const struct btrfs_policy_balance_options *options,
			 struct btrfs_policy_balance_report **report);

/**
 * btrfs_policy_balance_report_free() - free a report
 * @report: report or NULL
 */
void btrfs_policy_balance_report_free(struct btrfs_policy_balance_report *report);

#endif
