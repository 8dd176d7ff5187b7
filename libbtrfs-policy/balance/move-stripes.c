/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Moves the misplaced stripes of one chunk, and turns a refusal of the kernel into an
 * error text and the way to go on.  The chunk is valid at all times: a stripe is at its
 * old place or at the new one.
 */
#include <string.h>

#include "balance/balance.h"

/* By enum btrfs_move_stripe_reason. */
static const struct {
	enum bp_verdict verdict;
	const char *why, *advice;
} reasons[] = {
	[BTRFS_MOVE_STRIPE_UNSUPPORTED] = {
		BP_RELOCATE_IT, "the kernel does not do so on this file system", "let it relocate the chunk" },
	[BTRFS_MOVE_STRIPE_EXCLUSIVE_OPERATION] = {
		BP_FAILS, "another exclusive operation is running", "wait for it" },
	[BTRFS_MOVE_STRIPE_NO_CHUNK] = {
		BP_SKIP_IT, "the chunk has changed meanwhile", "run it again" },
	[BTRFS_MOVE_STRIPE_NO_DEVICE] = {
		BP_RELOCATE_IT, "one of the two devices is missing or read-only",
		"replace it, or let the kernel relocate the chunk" },
	[BTRFS_MOVE_STRIPE_TARGET_HAS_STRIPE] = {
		BP_SKIP_IT, "the device already has a stripe of the chunk", "run it again" },
	[BTRFS_MOVE_STRIPE_NO_SPACE] = {
		BP_RELOCATE_IT, "the device has no free extent as long as the stripe",
		"free some space, or let the kernel relocate the chunk" },
	[BTRFS_MOVE_STRIPE_SWAP_FILE] = {
		BP_SKIP_IT, "an active swap file is in the chunk", "run 'swapoff', then run it again" },
	[BTRFS_MOVE_STRIPE_NOT_READ_ONLY] = {
		BP_RELOCATE_IT, "there is no space for what is written meanwhile",
		"free some space, then run it again" },
	[BTRFS_MOVE_STRIPE_UNREPAIRABLE] = {
		BP_UNREADABLE, "a block has no good copy", "run 'btrfs scrub start -B' on it" },
	[BTRFS_MOVE_STRIPE_TARGET_ERROR] = {
		BP_FAILS, "the device cannot be written",
		"see 'btrfs device stats', and replace the device" },
	[BTRFS_MOVE_STRIPE_CANCELED] = { BP_TRY_LATER, "it was interrupted", "run it again" },
	[BTRFS_MOVE_STRIPE_FROZEN] = { BP_TRY_LATER, "the file system is frozen", "thaw it" },
};

/* The items of a step; NULL if they cannot be allocated. */
static uint32_t list_moves(const struct btrfs_policy_step *step,
			   struct btrfs_ioctl_move_stripe **items)
{
	const struct btrfs_policy_chunk *chunk = step->chunk;
	uint32_t count = 0;

	*items = calloc(chunk->stripes, sizeof(**items));
	for (uint32_t i = 0; *items && i < chunk->stripes; i++) {
		if (chunk->devids[i] == step->target_devids[i])
			continue;
		(*items)[count++] = (struct btrfs_ioctl_move_stripe){
			.chunk = chunk->logical, .devid = step->target_devids[i], .stripe = i,
		};
	}
	return count;
}

/* Without space the caller may allow relocation, or the chunk waits for others to move. */
static enum bp_verdict verdict_of(uint32_t reason, int err, enum btrfs_policy_method method)
{
	enum bp_verdict verdict = reasons[reason].verdict;

	/* A signal interrupts; another process cancels. */
	if (reason == BTRFS_MOVE_STRIPE_CANCELED && err != -EINTR)
		return BP_FAILS;
	if (verdict != BP_RELOCATE_IT || method != BTRFS_POLICY_METHOD_STRIPES)
		return verdict;
	return err == -ENOSPC ? BP_DEFER_IT : BP_FAILS;
}

static int refused(struct btrfs_policy_fs *fs, const struct btrfs_ioctl_move_stripe *item,
		   int err, uint32_t reason)
{
	const unsigned long long chunk = item->chunk, devid = item->devid;

	if (reason == BTRFS_MOVE_STRIPE_CANCELED && err != -EINTR)
		return bp_canceled(fs, false);
	if (reason >= BP_ARRAY_SIZE(reasons) || !reasons[reason].why)
		return bp_failed(fs, err, "cannot move stripe %u of chunk %llu of '%s' to devid %llu",
				 item->stripe, chunk, fs->mount_point, devid);
	bp_error(fs, err, "cannot move stripe %u of chunk %llu of '%s' to devid %llu: %s; %s",
		 item->stripe, chunk, fs->mount_point, devid, reasons[reason].why,
		 reasons[reason].advice);
	return err == -EBUSY ? bp_hint(fs, err, BTRFS_POLICY_HINT_ENQUEUE) : err;
}

/* Stripes that have moved stay moved if a later one of the chunk is refused. */
int bp_move_stripes(struct btrfs_policy_fs *fs, const struct btrfs_policy_step *step,
		    enum btrfs_policy_method method, uint64_t *copied, enum bp_verdict *verdict)
{
	_cleanup_free_ struct btrfs_ioctl_move_stripe *items = NULL;
	struct btrfs_ioctl_move_stripes_args args = { .op = BTRFS_MOVE_STRIPES_START };
	uint32_t reason;
	uint64_t i = 0;
	int ret;

	*copied = 0;
	*verdict = BP_FAILS;
	args.nr = list_moves(step, &items);
	if (!items)
		return bp_nomem(fs);
	args.items = (uintptr_t)items;
	ret = fs->ops->move_stripes(fs->backend, &args);
	*copied = args.copied;
	while (i < args.done && i < args.nr && !items[i].result)
		i++;
	reason = args.reason;
	if (i < args.done && i < args.nr) {
		ret = items[i].result;
		reason = items[i].reason;
	}
	if (!ret)
		return 0;
	if (reason < BP_ARRAY_SIZE(reasons) && reasons[reason].why)
		*verdict = verdict_of(reason, ret, method);
	else if (ret == -EINTR)
		*verdict = BP_TRY_LATER;
	return refused(fs, &items[i < args.nr ? i : 0], ret, reason);
}
