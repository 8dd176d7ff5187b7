/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of btrfs-policy.h, which includes it: proposals of settings that suit
 * the devices of a file system.  The conventions at the top of btrfs-policy.h hold here too.
 * Do not include it alone.
 */
#ifndef BTRFS_POLICY_H
#error "include <btrfs-policy.h>"
#endif
#ifndef BTRFS_POLICY_SUGGEST_H
#define BTRFS_POLICY_SUGGEST_H

/** struct btrfs_policy_suggestion - proposals and their effects; opaque */
struct btrfs_policy_suggestion;

/**
 * struct btrfs_policy_capacity - capacity of the array for a kind
 * @kind: kind of chunks
 * @profile: name of the profile in use
 * @before: logical bytes that would fit on the array if it were empty
 * @after: the same with the roles proposed
 * @first_choice: of @after, bytes in chunks on first-choice devices only
 */
struct btrfs_policy_capacity {
	enum btrfs_policy_kind kind;
	const char *profile;
	uint64_t before;
	uint64_t after;
	uint64_t first_choice;
};

/**
 * struct btrfs_policy_mismatch - a profile that would no longer find enough devices
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
 * btrfs_policy_suggest() - propose settings that suit the devices
 * @fs: open handle
 * @suggestion: receives the proposals, to be freed with
 *	btrfs_policy_suggestion_free(); it does not refer to @fs
 *
 * Considers whether devices are rotational, their transport and size, the profiles in
 * use and the capabilities of the kernel.  btrfs_policy_apply() never refuses a
 * proposal for lack of devices.  Sets no value.  Needs
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
 * btrfs_policy_suggestion_proposal() - one proposal; roles first, in order of
 *	devid
 * @suggestion: suggestion
 * @index: from 0
 *
 * Return: the row, or NULL behind the last one.
 */
const struct btrfs_policy_change *
btrfs_policy_suggestion_proposal(const struct btrfs_policy_suggestion *suggestion, size_t index);

/**
 * btrfs_policy_suggestion_note() - the reason why a setting is not proposed, or a
 *	caution
 * @suggestion: suggestion
 * @index: from 0
 *
 * Return: a sentence without a full stop, or NULL behind the last one.
 */
const char *btrfs_policy_suggestion_note(const struct btrfs_policy_suggestion *suggestion,
					 size_t index);

/**
 * btrfs_policy_suggestion_capacity() - capacity of the array, a row for each profile
 *	in use
 * @suggestion: suggestion
 * @index: from 0
 *
 * Return: the row, or NULL behind the last one.
 */
const struct btrfs_policy_capacity *
btrfs_policy_suggestion_capacity(const struct btrfs_policy_suggestion *suggestion, size_t index);

/**
 * btrfs_policy_suggestion_mismatch() - a profile that would no longer find enough
 *	devices
 * @suggestion: suggestion
 * @index: from 0
 *
 * Return: the row, or NULL behind the last one.
 */
const struct btrfs_policy_mismatch *
btrfs_policy_suggestion_mismatch(const struct btrfs_policy_suggestion *suggestion, size_t index);

/**
 * btrfs_policy_suggestion_moves() - the chunks that a balance would have to move
 * @suggestion: suggestion
 * @chunks: receives the number of chunks
 * @bytes: receives their logical size
 */
void btrfs_policy_suggestion_moves(const struct btrfs_policy_suggestion *suggestion,
				   uint64_t *chunks, uint64_t *bytes);

#endif
