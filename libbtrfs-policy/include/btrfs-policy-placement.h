/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of btrfs-policy.h, which includes it: where chunks stand, the plan
 * that puts misplaced ones right, and the balance that carries it out.
 * The conventions at the top of btrfs-policy.h hold here too.  Not to be
 * included alone.
 */
#ifndef BTRFS_POLICY_H
#error "include <btrfs-policy.h>"
#endif
#ifndef BTRFS_POLICY_PLACEMENT_H
#define BTRFS_POLICY_PLACEMENT_H

/* ---- Placement ---------------------------------------------------------- */

/**
 * enum btrfs_policy_misplaced - why a chunk is not where it should be
 * @BTRFS_POLICY_PLACED: it is where it should be
 * @BTRFS_POLICY_ON_EXCLUDED: a stripe is on a device whose role excludes its kind
 * @BTRFS_POLICY_ON_SECOND_CHOICE: a stripe is on a second-choice device while
 *	first-choice devices could hold it
 *
 * "Could hold it" is exact, and the same rule as the kernel's counters use:
 * - Profiles with a fixed number of devices (single, DUP, RAID1*): a first-choice
 *   device that the chunk does not stand on has room for what the chunk takes on
 *   one device.  Each such device can relieve one second-choice device.
 * - Striped profiles (RAID0, 10, 5, 6): the first-choice devices that the chunk
 *   stands on, together with those that have such room, are enough for a chunk of
 *   the profile.
 * Room is unallocated space.  So a RAID1 metadata chunk with one copy on the only
 * metadata-preferred SSD and the other on a disk is where it should be; one with
 * both copies on disks is not, unless the SSD has no room.
 */
enum btrfs_policy_misplaced {
	BTRFS_POLICY_PLACED = 0,
	BTRFS_POLICY_ON_EXCLUDED = 1,
	BTRFS_POLICY_ON_SECOND_CHOICE = 2,
};

/** struct btrfs_policy_placement - a picture of all chunks; opaque */
struct btrfs_policy_placement;

/**
 * struct btrfs_policy_chunk - one chunk
 * @logical: logical address of its first byte
 * @length: bytes of the logical address space it covers
 * @used: bytes of those in use
 * @type: type and profile flags as in the chunk item
 * @kind: what is in it
 * @profile: "single", "DUP", "RAID1", ...
 * @misplaced: whether and why it is misplaced by the roles on disk
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
 * @role: role that the chunks of the device are judged by
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
 * btrfs_policy_placement_read() - read where all chunks are
 * @fs: open handle
 * @placement: receives the picture, to be freed with
 *	btrfs_policy_placement_free(); it does not need @fs afterwards
 *
 * Needs CAP_SYS_ADMIN.  Works on every kernel, also on those that ignore roles:
 * chunks are then judged by the roles on disk.  Devices and roles are those of the
 * last open or refresh.  The kernel goes on meanwhile; a chunk that comes or goes
 * during the walk may be missing.
 *
 * Return: 0; -EPERM, -EUCLEAN, -EIO, -ENOMEM.
 */
int btrfs_policy_placement_read(struct btrfs_policy_fs *fs,
				struct btrfs_policy_placement **placement);

/**
 * btrfs_policy_placement_free() - free a picture
 * @placement: picture or NULL
 */
void btrfs_policy_placement_free(struct btrfs_policy_placement *placement);

/**
 * btrfs_policy_placement_chunk() - one chunk, in ascending order of address
 * @placement: picture
 * @index: from 0
 *
 * Return: the chunk, or NULL behind the last one.
 */
const struct btrfs_policy_chunk *
btrfs_policy_placement_chunk(const struct btrfs_policy_placement *placement, size_t index);

/**
 * btrfs_policy_placement_profile() - sums of one kind and profile
 * @placement: picture
 * @index: from 0; ordered data, metadata, system, mixed, then by profile
 *
 * Return: the sums, or NULL behind the last one.
 */
const struct btrfs_policy_profile_usage *
btrfs_policy_placement_profile(const struct btrfs_policy_placement *placement, size_t index);

/**
 * btrfs_policy_placement_device() - sums of one device
 * @placement: picture
 * @index: from 0, ascending devid
 *
 * Return: the sums, or NULL behind the last one.
 */
const struct btrfs_policy_device_usage *
btrfs_policy_placement_device(const struct btrfs_policy_placement *placement, size_t index);

/**
 * struct btrfs_policy_totals - sums of a picture or a plan
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
 * btrfs_policy_placement_totals() - sums of the whole picture
 * @placement: picture
 *
 * Return: the sums.
 */
const struct btrfs_policy_totals *
btrfs_policy_placement_totals(const struct btrfs_policy_placement *placement);

/**
 * btrfs_policy_placement_assume() - look at a picture as if things were different
 * @fs: open handle that the picture was read with
 * @placement: picture, which is changed and judged anew
 * @text: what is different, words between commas:
 *	`<role>=<device>`: the device has that role (further devices may follow, each
 *	behind a comma; devices as for btrfs_policy_device_select());
 *	`data=<profile>`, `metadata=<profile>`, `system=<profile>`: new chunks have
 *	that profile;
 *	`add=<size>[:<role>]`: there is one more device, of 1 PiB at most;
 *	`lose=<device>`: the device is gone
 *
 * Return: 0; -EINVAL and those of btrfs_policy_device_select(), and then the picture
 * is of no use; -ENOMEM.
 */
int btrfs_policy_placement_assume(struct btrfs_policy_fs *fs,
				  struct btrfs_policy_placement *placement, const char *text);

/**
 * struct btrfs_policy_fits - how much fits, by simulating the allocator
 * @data: bytes of data that could be stored yet, if nothing else is
 * @metadata: the same of metadata
 * @data_profile: profile that new data chunks would get
 * @metadata_profile: the same of metadata
 * @degraded_chunks: chunks that would miss a device and still be whole
 * @lost_chunks: chunks that would have lost contents
 */
struct btrfs_policy_fits {
	uint64_t data;
	uint64_t metadata;
	const char *data_profile;
	const char *metadata_profile;
	uint64_t degraded_chunks;
	uint64_t lost_chunks;
};

/**
 * btrfs_policy_placement_fits() - how much fits yet
 * @fs: handle
 * @placement: picture, as it is or with assumptions
 * @fits: receives the figures
 *
 * What is free in chunks, and chunks that the allocator would make until there is no
 * room.  In what is there data and metadata compete, so both figures together
 * are more than fits of both.
 *
 * Return: 0 or -ENOMEM.
 */
int btrfs_policy_placement_fits(struct btrfs_policy_fs *fs,
				    struct btrfs_policy_placement *placement,
				    struct btrfs_policy_fits *fits);

/**
 * struct btrfs_policy_outlook - what data and metadata can grow to
 * @data_used: bytes of data now
 * @data_more: bytes of data that could be stored besides, if no metadata is
 * @data_profile: profile that new data chunks would get
 * @metadata_used: bytes of metadata now
 * @metadata_more: bytes of metadata that could be stored besides, if no data is;
 *	without @metadata_kept
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
 * btrfs_policy_placement_outlook() - what data and metadata can grow to
 * @fs: handle
 * @placement: picture, as it is or with assumptions
 * @moved: count room for metadata as if misplaced chunks had moved already, as the
 *	plan of btrfs_policy_plan_new() would move them
 * @outlook: receives the figures
 *
 * Return: 0; -EOPNOTSUPP for mixed block groups; with @moved those of
 * btrfs_policy_plan_new(); -ENOMEM.
 */
int btrfs_policy_placement_outlook(struct btrfs_policy_fs *fs,
				   struct btrfs_policy_placement *placement, bool moved,
				   struct btrfs_policy_outlook *outlook);

/* ---- Plan --------------------------------------------------------------- */

/** struct btrfs_policy_plan - ordered steps that put chunks right; opaque */
struct btrfs_policy_plan;

/**
 * struct btrfs_policy_step_space - one device around one step
 * @devid: device
 * @before: bytes without a chunk before the step
 * @least: the same while what is moved stands in both places
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
 * @chunk: the chunk as it stands before the plan starts; its @misplaced says why
 *	it moves (BTRFS_POLICY_PLACED: earlier steps make room where it belongs)
 * @targets: number of stripes of its new place; 0 if it holds nothing, or if all it
 *	holds goes into chunks that exist already
 * @target_devids: devices of the new place, as the kernel would choose them
 * @target_stripe_length: bytes of a stripe of the new place
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
 * struct btrfs_policy_plan_device - what a device holds around a plan
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
 * btrfs_policy_plan_new() - plan from a picture
 * @fs: handle, for the error text; need not be open
 * @placement: picture; the plan keeps no pointer to it
 * @limit: plan at most this many steps, 0 for no limit
 * @plan: receives the plan, to be freed with btrfs_policy_plan_free()
 *
 * Order: metadata as soon as there is room, before that data off devices that
 * exclude it, then system, then the rest of the data; within each the least used
 * chunk first.  Contents go into chunks that stand right and into new ones, never
 * into others that stand wrong.  During every step and after it
 * - one more data, metadata and system chunk can be made (if it could before), and
 * - what metadata can still take, free in its chunks and unallocated where it may
 *   go, is not below @slack_floor of the summary (nor lower still if it is below):
 *   the most of what was free in metadata chunks at the beginning, a tenth of what
 *   metadata uses, and one chunk of full size beside the global reserve; but at
 *   most half of what metadata can take when all is done, since small arrays could
 *   never have as much.
 * If there is no such order the plan is empty and btrfs_policy_plan_blocked() says
 * why.  Up to seven chunks every order is tried; with more, one that is unlike the
 * usual may be overlooked.  Nothing on disk is touched.
 *
 * Return: 0 (also if there is nothing to do); -EINVAL for a picture that assumes
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
 * @short_bytes: room that would have to be found for the first blocked chunk
 * @beyond_limit: chunks left out because of the limit
 * @slack_before: what metadata can still take now
 * @slack_after: the same after the last step without a limit
 * @slack_floor: what it keeps throughout
 * @least_seconds: about how long the steps take on quick devices
 * @most_seconds: the same on slow ones
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
 * btrfs_policy_plan_blocked() - why some chunks stay where they are
 * @plan: plan
 *
 * Return: one line: which devices lack how much and what would help; NULL if
 * every misplaced chunk has a step or lies beyond the limit.
 */
const char *btrfs_policy_plan_blocked(const struct btrfs_policy_plan *plan);

/* ---- Balance ------------------------------------------------------------ */

/**
 * struct btrfs_policy_progress - how far a balance is
 * @chunks_done: chunks moved or tried
 * @chunks_total: chunks to move, from the newest plan, and those that wait for room
 * @bytes_done: used bytes of the chunks done
 * @bytes_total: used bytes of all of them
 * @elapsed_ns: nanoseconds since the start
 * @logical: address of the chunk that is next or being moved, 0 at the end
 * @kind: kind of that chunk
 * @bytes_per_second: used bytes moved so far, a second; 0 if not known yet
 * @seconds_left: what the rest takes at that rate; -1 if not known yet
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
 * enum btrfs_policy_balance_end - why a balance ended
 * @BTRFS_POLICY_END_DONE: nothing misplaced is left that could be moved
 * @BTRFS_POLICY_END_LIMIT: the limit was reached
 * @BTRFS_POLICY_END_NO_SPACE: the kernel found no room for a chunk, nor behind
 *	all others that could be moved
 * @BTRFS_POLICY_END_CANCELED: somebody ran `btrfs balance cancel`
 * @BTRFS_POLICY_END_PAUSED: somebody ran `btrfs balance pause`
 * @BTRFS_POLICY_END_STOPPED: the progress callback asked to stop
 * @BTRFS_POLICY_END_FAILED: anything else; the error text says what
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
 * struct btrfs_policy_balance_report - what a balance did
 * @end: why it ended
 * @considered: chunks of the file system at the start, and those that were
 *	misplaced when another round began
 * @misplaced: misplaced chunks at the start and when another round began
 * @relocated: chunks moved
 * @relocated_used: bytes in use of those
 * @still_misplaced: misplaced chunks at the end, by a new look
 * @moved_in_vain: chunks moved whose contents are on the wrong devices still
 * @elapsed_ns: nanoseconds it took
 * @text: one line that explains what is left and why; "" if nothing is
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
 * btrfs_policy_balance_check() - could a balance start now?
 * @fs: open handle
 * @options: how, or NULL for all defaults
 *
 * What would make btrfs_policy_balance() fail before it looks at any chunk: for
 * callers that go into the background and want to say so before.
 *
 * Return: 0, or what btrfs_policy_balance() would return.
 */
int btrfs_policy_balance_check(struct btrfs_policy_fs *fs,
			       const struct btrfs_policy_balance_options *options);

/**
 * btrfs_policy_balance() - move misplaced chunks, one after the other
 * @fs: open handle
 * @options: how, or NULL for all defaults
 * @report: receives what was done, on failure too (NULL only if it could not
 *	start), to be freed with btrfs_policy_balance_report_free()
 *
 * Plans, moves one chunk with the kernel's balance, looks again, and so on until
 * nothing that could be moved is misplaced.  `btrfs balance status`, `pause` and
 * `cancel` work on it.  A chunk is never moved twice by one call.  One that the
 * kernel finds no room for is tried again behind the others, as long as any of
 * them moves.  What an earlier call left behind, a paused balance of one chunk or
 * one that the kernel took up again at mount, is finished first.
 *
 * Return: 0 if it ended with DONE or LIMIT (look at @still_misplaced: chunks that
 * came meanwhile or landed wrong again are not tried twice);
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
