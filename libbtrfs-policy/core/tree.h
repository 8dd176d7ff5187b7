/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Items of trees: searching for them, and decoding those that the library needs.
 */
#ifndef BP_TREE_H
#define BP_TREE_H

#include "core/handle.h"

/* Trees are ordered by their keys, member by member. */
int bp_key_compare(const struct btrfs_key *a, const struct btrfs_key *b);
int bp_tree_walk(struct btrfs_policy_fs *fs, uint64_t tree, const struct btrfs_key *first,
		 const struct btrfs_key *last,
		 int (*fn)(struct btrfs_policy_fs *fs, const struct btrfs_key *key,
			   const void *data, size_t length, void *user),
		 void *user);
/*
 * With the feature remap-tree, which older headers do not have: chunks of that tree, chunks whose
 * data is elsewhere, and longer items of block groups.
 */
#define BP_CHUNK_REMAP_TREE (1ULL << 12)
#define BP_CHUNK_REMAPPED (1ULL << 11)
#define BP_LONG_GROUP_SIZE (sizeof(struct btrfs_block_group_item) + 12)
int bp_decode_device(const void *data, size_t length, struct btrfs_dev_item *device);
/* -EOPNOTSUPP for a remapped chunk; those of the remap tree become metadata */
int bp_decode_chunk(const struct btrfs_key *key, const void *data, size_t length,
		    struct btrfs_policy_chunk *chunk, uint64_t **devids);
int bp_decode_block_group(const struct btrfs_key *key, const void *data, size_t length,
			  uint64_t *used);

#endif
