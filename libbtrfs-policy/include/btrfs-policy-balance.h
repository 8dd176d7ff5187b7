/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of btrfs-policy.h, which includes it: the plan that moves misplaced chunks,
 * and the balance that carries it out.  The conventions at the top of
 * btrfs-policy.h hold here too.  Do not include it alone.
 */
#ifndef BTRFS_POLICY_H
#error "include <btrfs-policy.h>"
#endif
#ifndef BTRFS_POLICY_BALANCE_H
#define BTRFS_POLICY_BALANCE_H

/* ---- Method ------------------------------------------------------------- */

/**
 * enum btrfs_policy_method - how chunks are moved
 * @BTRFS_POLICY_METHOD_AUTO: by stripes where that is possible, else by relocation
 * @BTRFS_POLICY_METHOD_STRIPES: only by stripes: the chunk keeps its addresses, and
 *	the kernel copies its misplaced stripes to other devices
 * @BTRFS_POLICY_METHOD_RELOCATE: only by relocation: all contents of the chunk are
 *	written anew, and every reference to them changes
 */
enum btrfs_policy_method {
	BTRFS_POLICY_METHOD_AUTO = 0,
	BTRFS_POLICY_METHOD_STRIPES = 1,
	BTRFS_POLICY_METHOD_RELOCATE = 2,
};

/**
 * enum btrfs_policy_obstacle - the reason why a chunk does not move by its stripes
 * @BTRFS_POLICY_BY_STRIPES: none, it does
 * @BTRFS_POLICY_NOT_WANTED: the caller wants relocation
 * @BTRFS_POLICY_NO_KERNEL: this kernel cannot
 * @BTRFS_POLICY_NO_FORMAT: the kernel cannot on this file system (zoned, raid stripe
 *	tree, extent tree v2)
 * @BTRFS_POLICY_EMPTY: the chunk has no contents, and relocation removes it
 * @BTRFS_POLICY_OTHER_PROFILE: relocation gives the contents another profile
 * @BTRFS_POLICY_DEVICE_GONE: the device of a misplaced stripe is missing or read-only
 * @BTRFS_POLICY_NO_HOLE: no free extent of a better device is as long as a stripe
 * @BTRFS_POLICY_NO_DEVICE: with so many stripes it cannot be correctly placed
 * @BTRFS_POLICY_TOO_TIGHT: chunks of that length would leave too little space
 * @BTRFS_POLICY_REFUSED: the kernel refused
 */
enum btrfs_policy_obstacle {
	BTRFS_POLICY_BY_STRIPES = 0,
	BTRFS_POLICY_NOT_WANTED = 1,
	BTRFS_POLICY_NO_KERNEL = 2,
	BTRFS_POLICY_NO_FORMAT = 3,
	BTRFS_POLICY_EMPTY = 4,
	BTRFS_POLICY_OTHER_PROFILE = 5,
	BTRFS_POLICY_DEVICE_GONE = 6,
	BTRFS_POLICY_NO_HOLE = 7,
	BTRFS_POLICY_NO_DEVICE = 8,
	BTRFS_POLICY_TOO_TIGHT = 9,
	BTRFS_POLICY_REFUSED = 10,
};

/**
 * btrfs_policy_obstacle_name() - a few words for an obstacle
 * @obstacle: any value of the enum
 *
 * Return: "no hole", "other profile", ...; NULL for BTRFS_POLICY_BY_STRIPES and
 * values outside the enum.
 */
const char *btrfs_policy_obstacle_name(enum btrfs_policy_obstacle obstacle);

/* ---- Options ------------------------------------------------------------ */

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
 * @obstacle: BTRFS_POLICY_BY_STRIPES if that chunk is moved by its stripes, else why not
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
	enum btrfs_policy_obstacle obstacle;
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
 * @method: how chunks are moved; with BTRFS_POLICY_METHOD_AUTO a chunk whose stripes
 *	the kernel refuses to move is relocated
 * @only_draining: move only chunks that have a stripe on a draining device
 */
struct btrfs_policy_balance_options {
	size_t size;
	uint64_t limit;
	bool enqueue;
	bool unenforced;
	int (*progress)(const struct btrfs_policy_progress *progress, void *user);
	void *user;
	enum btrfs_policy_method method;
	bool only_draining;
};

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
 * @target_devids: devices of the new chunk, as the kernel would choose them; by
 *	stripes those of the chunk after the step, in the order of its stripes
 * @target_stripe_length: bytes of a stripe of the new chunk
 * @space_count: number of devices whose unallocated space the step changes
 * @spaces: those devices
 * @obstacle: BTRFS_POLICY_BY_STRIPES if the stripes whose device changes are moved,
 *	else why the chunk is relocated
 */
struct btrfs_policy_step {
	const struct btrfs_policy_chunk *chunk;
	uint32_t targets;
	const uint64_t *target_devids;
	uint64_t target_stripe_length;
	size_t space_count;
	const struct btrfs_policy_step_space *spaces;
	enum btrfs_policy_obstacle obstacle;
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
 * @options: @limit and @method count, or NULL for all defaults
 * @plan: receives the plan, to be freed with btrfs_policy_plan_free()
 *
 * Order: metadata as soon as it has space, before that data on devices that exclude
 * it, then system, then the rest of the data; within each the most used chunk first
 * where chunks move by stripes, else the least used one.  A stripe moves to the
 * first-choice device with most unallocated space that has no stripe of the chunk and
 * a free extent as long as the stripe.  Relocated data is moved only into correctly placed chunks or new ones, never into a
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
 * other profiles; -EOPNOTSUPP for a file system with the feature remap-tree, or with
 * BTRFS_POLICY_METHOD_STRIPES if it has no such move; -ENOMEM.
 */
int btrfs_policy_plan_new(struct btrfs_policy_fs *fs,
			  const struct btrfs_policy_placement *placement,
			  const struct btrfs_policy_balance_options *options,
			  struct btrfs_policy_plan **plan);

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
 * @by_stripes: steps that move stripes
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
	uint64_t by_stripes;
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
 * enum btrfs_policy_balance_end - the reason why a balance ended
 * @BTRFS_POLICY_END_DONE: no misplaced chunk is left that could be moved
 * @BTRFS_POLICY_END_LIMIT: the limit was reached
 * @BTRFS_POLICY_END_NO_SPACE: the kernel found no space for a chunk, also
 *	after it had moved all others that could be moved
 * @BTRFS_POLICY_END_CANCELED: a user ran `btrfs balance cancel`, or ended the move of stripes
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
 * @by_stripes: of @relocated, those moved by their stripes
 * @copied: bytes that were written for those
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
	uint64_t by_stripes;
	uint64_t copied;
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
 * Plans, moves one chunk, reads a new snapshot, and repeats this until no misplaced
 * chunk is left that could be moved.  `btrfs balance status`, `pause` and `cancel` work
 * on a relocation.  A signal that the caller handles ends a move of stripes, and the
 * chunk stays where it was; @progress is asked then.  A chunk is never relocated twice
 * by one call.  If the kernel finds no space for a chunk, the chunk is deferred until
 * others have moved.
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
