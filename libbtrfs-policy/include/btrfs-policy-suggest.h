/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of btrfs-policy.h, which includes it: what would suit the devices
 * of a file system.  The conventions at the top of btrfs-policy.h hold here too.
 * Not to be included alone.
 */
#ifndef BTRFS_POLICY_H
#error "include <btrfs-policy.h>"
#endif
#ifndef BTRFS_POLICY_SUGGEST_H
#define BTRFS_POLICY_SUGGEST_H

/** struct btrfs_policy_suggestion - proposals and what would come of them; opaque */
struct btrfs_policy_suggestion;

/**
 * struct btrfs_policy_capacity - how much of a kind the array could hold
 * @kind: kind of chunks
 * @profile: name of the profile in use
 * @before: logical bytes that would fit if the array had nothing else on it
 * @after: the same with the roles proposed
 * @first_choice: of @after, what stands wholly on devices of the first choice
 */
struct btrfs_policy_capacity {
	enum btrfs_policy_kind kind;
	const char *profile;
	uint64_t before;
	uint64_t after;
	uint64_t first_choice;
};

/**
 * struct btrfs_policy_mismatch - a profile that would no longer find its devices
 * @kind: kind of chunks
 * @profile: name of the profile
 * @needs: devices that it needs
 * @left: devices that would allow the kind
 */
struct btrfs_policy_mismatch {
	enum btrfs_policy_kind kind;
	const char *profile;
	uint32_t needs;
	uint32_t left;
};

/**
 * btrfs_policy_suggest() - what would suit the devices; changes nothing
 * @fs: open handle
 * @suggestion: receives the proposals, to be freed with
 *	btrfs_policy_suggestion_free(); rows of devices in it need @fs no longer
 *
 * Goes by whether devices are rotational, how they are attached and how large
 * they are, by the profiles in use and by what the kernel offers.  What is
 * proposed is never refused by btrfs_policy_apply() for lack of devices.  Needs
 * CAP_SYS_ADMIN, because profiles are read from the chunk tree.
 *
 * Return: 0, or as btrfs_policy_placement_read() and btrfs_policy_setting_get().
 */
int btrfs_policy_suggest(struct btrfs_policy_fs *fs,
			 struct btrfs_policy_suggestion **suggestion);

/**
 * btrfs_policy_suggestion_free() - free a suggestion
 * @suggestion: suggestion or NULL
 */
void btrfs_policy_suggestion_free(struct btrfs_policy_suggestion *suggestion);

/**
 * btrfs_policy_suggestion_proposal() - one setting that should be another; roles
 *	first, in order of devid
 * @suggestion: suggestion
 * @index: from 0
 *
 * Return: the row, or NULL behind the last one.
 */
const struct btrfs_policy_change *
btrfs_policy_suggestion_proposal(const struct btrfs_policy_suggestion *suggestion, size_t index);

/**
 * btrfs_policy_suggestion_note() - why something is not proposed, or what to mind
 * @suggestion: suggestion
 * @index: from 0
 *
 * Return: a sentence without a full stop, or NULL behind the last one.
 */
const char *btrfs_policy_suggestion_note(const struct btrfs_policy_suggestion *suggestion,
					 size_t index);

/**
 * btrfs_policy_suggestion_capacity() - what the array could hold, a row a profile in use
 * @suggestion: suggestion
 * @index: from 0
 *
 * Return: the row, or NULL behind the last one.
 */
const struct btrfs_policy_capacity *
btrfs_policy_suggestion_capacity(const struct btrfs_policy_suggestion *suggestion, size_t index);

/**
 * btrfs_policy_suggestion_mismatch() - a profile that fits now and would not any more
 * @suggestion: suggestion
 * @index: from 0
 *
 * Return: the row, or NULL behind the last one.
 */
const struct btrfs_policy_mismatch *
btrfs_policy_suggestion_mismatch(const struct btrfs_policy_suggestion *suggestion, size_t index);

/**
 * btrfs_policy_suggestion_moves() - what a balance would have to move afterwards
 * @suggestion: suggestion
 * @chunks: receives the number of chunks
 * @bytes: receives their logical size
 */
void btrfs_policy_suggestion_moves(const struct btrfs_policy_suggestion *suggestion,
				   uint64_t *chunks, uint64_t *bytes);

#endif
