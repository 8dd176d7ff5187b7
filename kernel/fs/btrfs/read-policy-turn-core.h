/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which read of a stream a disk gets when, for the roundrobin read policy.  Owns
 * the rule by which the first read of a turn waits for the turn before.  Pure
 * functions that also compile in user space; the caller serializes them for each
 * disk and keeps the reads themselves.
 */

#ifndef BTRFS_READ_POLICY_TURN_CORE_H
#define BTRFS_READ_POLICY_TURN_CORE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "read-policy-shim.h"
#endif

/* What a read is to its stream. */
struct btrfs_rr_turn {
	/* The stream's number, 0 if the stream takes no turns on disks. */
	u16 stream;
	/* The stream comes from another mirror and goes on here. */
	bool begins;
};

/* The turns on one disk, all of one stream. */
struct btrfs_rr_turns {
	u16 stream;
	/* Reads that were let go, and reads that wait until none of those is left. */
	unsigned int sent;
	unsigned int waiting;
};

enum btrfs_rr_admission {
	/* Not one to be counted, it goes at once. */
	BTRFS_RR_PASSES,
	BTRFS_RR_GOES,
	BTRFS_RR_WAITS,
};

static inline enum btrfs_rr_admission btrfs_rr_turns_admit(struct btrfs_rr_turns *turns,
							   struct btrfs_rr_turn turn)
{
	if (!turns->sent)
		turns->stream = turn.stream;
	/* Those have nothing to do with it. */
	if (turns->stream != turn.stream)
		return BTRFS_RR_PASSES;
	if (turns->waiting || (turn.begins && turns->sent)) {
		turns->waiting++;
		return BTRFS_RR_WAITS;
	}
	turns->sent++;
	return BTRFS_RR_GOES;
}

/* A read that was not let pass is done: is it time for those that wait? */
static inline bool btrfs_rr_turns_done(struct btrfs_rr_turns *turns)
{
	return !--turns->sent && turns->waiting;
}

/* Then each of them, in their order, is asked for until one has to wait on. */
static inline bool btrfs_rr_turns_release(struct btrfs_rr_turns *turns,
					  struct btrfs_rr_turn turn)
{
	if (turn.begins && turns->sent)
		return false;
	turns->waiting--;
	turns->sent++;
	return true;
}

#endif
