// SPDX-License-Identifier: GPL-2.0
/*
 * Move stripes of chunks to other devices, without relocation: a chunk keeps its logical
 * addresses and its items, only the place of a stripe changes.
 *
 * The block group is read-only from before the copy until after the commit of the new place. So
 * both places have the same content until then, and a crash at any time leaves one of them
 * in the chunk tree. The old place can be allocated again once no bio can be on the way to it.
 */

#include <linux/mount.h>
#include "ctree.h"
#include "accessors.h"
#include "dev-replace.h"
#include "disk-io.h"
#include "extent-tree.h"
#include "messages.h"
#include "move-stripe.h"
#include "ordered-data.h"
#include "raid56.h"
#include "space-info.h"
#include "transaction.h"
#include "compat.h"
#if __has_include("scrub-limit.h")
#include "scrub-limit.h"
#else	/* Others are not noticed without the topic scrub-send. */
#define btrfs_scrub_watch(dev, on)	((void)0)
#define btrfs_scrub_makes_way(dev)	false
#endif

static int refuse(struct btrfs_stripe_move *move, int error, u32 reason)
{
	move->item.reason = reason;
	return error;
}

/* Returns why the move has to end before the stripe is copied, or 0. */
static int stopped(struct btrfs_stripe_move *move)
{
	if (READ_ONCE(move->cancel))
		return refuse(move, -ECANCELED, BTRFS_MOVE_STRIPE_CANCELED);
	if (signal_pending(current))
		return refuse(move, -EINTR, BTRFS_MOVE_STRIPE_CANCELED);
	if (move->fs_info->sb->s_writers.frozen != SB_UNFROZEN)
		return refuse(move, -EAGAIN, BTRFS_MOVE_STRIPE_FROZEN);
	return 0;
}

/* Only the block layer can take devices away later, as no other exclusive operation runs. */
static int find_devices(struct btrfs_stripe_move *move)
{
	struct btrfs_dev_lookup_args args = { .devid = move->item.devid };
	const struct btrfs_chunk_map *map = move->map;
	const u32 nr = move->item.stripe;

	if (nr >= map->num_stripes)
		return refuse(move, -ENOENT, BTRFS_MOVE_STRIPE_NO_CHUNK);
	move->src = map->stripes[nr].dev;
	move->from = map->stripes[nr].physical;
	move->dst = btrfs_find_device(move->fs_info->fs_devices, &args);
	if (!move->dst)
		return refuse(move, -ENODEV, BTRFS_MOVE_STRIPE_NO_DEVICE);
	if (!test_bit(BTRFS_DEV_STATE_WRITEABLE, &move->src->dev_state) ||
	    !test_bit(BTRFS_DEV_STATE_WRITEABLE, &move->dst->dev_state))
		return refuse(move, -EROFS, BTRFS_MOVE_STRIPE_NO_DEVICE);
	for (int i = 0; i < map->num_stripes; i++) {
		if (map->stripes[i].dev == move->dst &&
		    (i == nr || !(map->type & BTRFS_BLOCK_GROUP_DUP)))
			return refuse(move, -EEXIST, BTRFS_MOVE_STRIPE_TARGET_HAS_STRIPE);
	}
	return 0;
}

/* From here on the block group is not removed, and gets no new reservations. */
static int make_read_only(struct btrfs_stripe_move *move)
{
	struct btrfs_block_group *bg = move->bg;
	int ret;

	guard(mutex)(&bg->fs_info->reclaim_bgs_lock);
	if (test_bit(BLOCK_GROUP_FLAG_REMOVED, &bg->runtime_flags))
		return refuse(move, -ENOENT, BTRFS_MOVE_STRIPE_NO_CHUNK);
	/* Without a chunk of another profile, but tree blocks of a system chunk need space. */
	ret = btrfs_inc_block_group_ro(bg, false);
	if (ret == -ENOSPC && bg->flags & BTRFS_BLOCK_GROUP_SYSTEM)
		ret = btrfs_inc_block_group_ro(bg, true);
	if (ret == -ETXTBSY)
		return refuse(move, ret, BTRFS_MOVE_STRIPE_SWAP_FILE);
	return ret == -ENOSPC ? refuse(move, ret, BTRFS_MOVE_STRIPE_NOT_READ_ONLY) : ret;
}

static void make_writeable(struct btrfs_block_group *bg)
{
	/* The cleaner skips one that is read-only, and forgets it. */
	guard(mutex)(&bg->fs_info->reclaim_bgs_lock);
	btrfs_dec_block_group_ro(bg);
	if (!bg->used)
		btrfs_mark_bg_unused(bg);
}

/*
 * Wait until nothing is written into the block group. Scrub freezes it while it is there, and
 * waits for the flag when it comes later.
 */
static int finish_writes(struct btrfs_stripe_move *move)
{
	struct btrfs_block_group *bg = move->bg;
	int ret;

	btrfs_wait_block_group_reservations(bg);
	btrfs_wait_nocow_writers(bg);
	btrfs_wait_ordered_roots(bg->fs_info, U64_MAX, bg);
	ret = btrfs_commit_current_transaction(bg->fs_info->tree_root);
	while (!ret) {
		scoped_guard(spinlock, &bg->lock) {
			if (!atomic_read(&bg->frozen)) {
				set_bit(BLOCK_GROUP_FLAG_MOVING, &bg->runtime_flags);
				return 0;
			}
		}
		schedule_timeout_interruptible(HZ / 20);
		ret = stopped(move);
	}
	return ret;
}

static void mark_allocated(struct btrfs_device *device, u64 start, u64 len, bool allocated)
{
	if (allocated)
		btrfs_set_extent_bit(&device->alloc_state, start, start + len - 1,
				     CHUNK_ALLOCATED | EXTENT_NOWAIT, NULL);
	else
		btrfs_clear_extent_bit(&device->alloc_state, start, start + len - 1,
				       CHUNK_ALLOCATED | EXTENT_NOWAIT, NULL);
}

/*
 * Find an extent of the target. No superblock may be in it: the block group keeps the addresses
 * out of use that were at superblocks when it was loaded, not those that are now.
 */
static int find_extent(struct btrfs_stripe_move *move)
{
	struct btrfs_device *dst = move->dst;
	bool marked[BTRFS_SUPER_MIRROR_MAX];
	int ret;

	for (int i = 0; i < BTRFS_SUPER_MIRROR_MAX; i++) {
		const u64 super = btrfs_sb_offset(i);

		marked[i] = !btrfs_test_range_bit_exists(&dst->alloc_state, super,
							 super + BTRFS_STRIPE_LEN - 1,
							 CHUNK_ALLOCATED);
		if (marked[i])
			mark_allocated(dst, super, BTRFS_STRIPE_LEN, true);
	}
	ret = find_free_dev_extent(dst, move->map->stripe_size, &move->to, NULL);
	for (int i = 0; i < BTRFS_SUPER_MIRROR_MAX; i++) {
		if (marked[i])
			mark_allocated(dst, btrfs_sb_offset(i), BTRFS_STRIPE_LEN, false);
	}
	return ret == -ENOSPC ? refuse(move, ret, BTRFS_MOVE_STRIPE_NO_SPACE) : ret;
}

/* Bytes that are not used by a chunk, but cannot be allocated. chunk_mutex is held. */
static void add_moving_bytes(struct btrfs_device *device, s64 bytes)
{
	device->moving_bytes += bytes;
	device->freed_bytes += bytes;
}

static int reserve_target(struct btrfs_stripe_move *move)
{
	struct btrfs_fs_info *fs_info = move->fs_info;
	struct btrfs_trans_handle *trans = btrfs_join_transaction(fs_info->tree_root);
	struct btrfs_device *dst = move->dst;
	const u64 len = move->map->stripe_size;
	int ret;

	/* It keeps the commit root that is searched. */
	if (IS_ERR(trans))
		return PTR_ERR(trans);
	mutex_lock(&fs_info->chunk_mutex);
	ret = find_extent(move);
	if (!ret) {
		mark_allocated(dst, move->to, len, true);
		btrfs_clear_extent_bit(&dst->alloc_state, move->to, move->to + len - 1,
				       CHUNK_TRIMMED | EXTENT_NOWAIT, NULL);
		add_moving_bytes(dst, len);
		atomic64_sub(len, &fs_info->free_chunk_space);
		btrfs_update_per_profile_avail(fs_info);
	}
	mutex_unlock(&fs_info->chunk_mutex);
	btrfs_end_transaction(trans);
	return ret;
}

/* free_chunk_space is the unallocated bytes of writeable devices less all moving_bytes. */
static void release_extent(struct btrfs_stripe_move *move, struct btrfs_device *device, u64 start)
{
	struct btrfs_fs_info *fs_info = move->fs_info;
	const u64 len = move->map->stripe_size;

	guard(mutex)(&fs_info->chunk_mutex);
	mark_allocated(device, start, len, false);
	add_moving_bytes(device, -len);
	atomic64_add(len, &fs_info->free_chunk_space);
	btrfs_update_per_profile_avail(fs_info);
	btrfs_clear_space_info_full(fs_info);
}

/* Free space that is marked as discarded has to be so at the new place, too. */
static void discard_extent(struct btrfs_device *device, u64 start, u64 len)
{
	struct btrfs_fs_info *fs_info = device->fs_info;
	u64 discarded;

	if ((btrfs_test_opt(fs_info, DISCARD_SYNC) || btrfs_test_opt(fs_info, DISCARD_ASYNC)) &&
	    bdev_max_discard_sectors(device->bdev))
		btrfs_issue_discard(device->bdev, start, len, &discarded);
}

/* What scrub writes to the source of a replace goes to the target of the move. */
void btrfs_move_redirect(struct btrfs_stripe_move *move, struct btrfs_io_stripe *stripe, u32 len)
{
	ASSERT(stripe->dev == move->src);
	stripe->dev = move->dst;
	stripe->physical += move->to - move->from;
	move->item.copied += len;
	WRITE_ONCE(move->args->copied, move->args->copied + len);
}

static int transfer_strip(struct btrfs_io_stripe *stripe, void *data, blk_opf_t op)
{
	struct bio_vec bvec;
	struct bio bio;
	int ret;

	bio_init(&bio, stripe->dev->bdev, &bvec, 1, op);
	bio.bi_iter.bi_sector = stripe->physical >> SECTOR_SHIFT;
	__bio_add_page(&bio, virt_to_page(data), BTRFS_STRIPE_LEN, 0);
	ret = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return ret;
}

/* Copy a strip of parity as it is: there is no checksum of it. */
int btrfs_move_parity(struct btrfs_stripe_move *move, u64 physical, u64 full_stripe)
{
	struct btrfs_io_stripe stripe = { .dev = move->src, .physical = physical };
	void *data = kmalloc(BTRFS_STRIPE_LEN, GFP_NOFS | __GFP_RETRY_MAYFAIL);

	if (!data)
		return -ENOMEM;
	if (transfer_strip(&stripe, data, REQ_OP_READ)) {
		move->item.failed_logical = full_stripe;
	} else {
		btrfs_move_redirect(move, &stripe, BTRFS_STRIPE_LEN);
		if (transfer_strip(&stripe, data, REQ_OP_WRITE))
			move->write_failed = true;
	}
	kfree(data);
	return btrfs_move_pace(move, physical);
}

/* Scrub calls this for each strip before it reads it. Returns why to end, or 0. */
int btrfs_move_pace(struct btrfs_stripe_move *move, u64 physical)
{
	u64 limit = move->args->bytes_per_sec;
	u64 strip_ns;

	/* Beside others 20 runs: two seeks and a transfer of 8 ms each, half of the time. */
	if (!limit && (btrfs_scrub_makes_way(move->src) || btrfs_scrub_makes_way(move->dst)))
		limit = 20 * SZ_1M;
	strip_ns = limit ? div64_u64((u64)BTRFS_STRIPE_LEN * NSEC_PER_SEC, limit) : 0;
	WRITE_ONCE(move->args->position, physical - move->from);
	if (move->write_failed || move->item.failed_logical)
		return -EIO;
	/* Time that was not used is kept for 100 ms. */
	move->due = ktime_add_ns(max(move->due, ktime_sub_ms(ktime_get(), 100)), strip_ns);
	/* A hard disk seeks to the stripe and back: do so for 1 MiB at a time. */
	if (ktime_before(move->due, ktime_add_ns(ktime_get(), SZ_1M / BTRFS_STRIPE_LEN * strip_ns)))
		return stopped(move);
	/* Commits wait for scrub. */
	while (ktime_before(ktime_get(), move->due) && !stopped(move) &&
	       !atomic_read(&move->fs_info->scrub_pause_req))
		schedule_timeout_interruptible(HZ / 100 + 1);
	return stopped(move);
}

static int copy_stripe(struct btrfs_stripe_move *move)
{
	int ret;

	move->write_failed = false;
	btrfs_scrub_watch(move->src, true);
	btrfs_scrub_watch(move->dst, true);
	/* Cancelling a scrub cancels this, too. */
	while ((ret = btrfs_scrub_copy_stripe(move)) == -ECANCELED && !stopped(move))
		schedule_timeout_interruptible(HZ / 10);
	btrfs_scrub_watch(move->src, false);
	btrfs_scrub_watch(move->dst, false);
	if (move->item.failed_logical) {
		btrfs_err(move->fs_info, "no good copy of block %llu to move, its chunk stays",
			  move->item.failed_logical);
		return refuse(move, -EIO, BTRFS_MOVE_STRIPE_UNREPAIRABLE);
	}
	/* A commit tolerates a flush that fails if the other devices of the old map suffice. */
	if (move->write_failed || (!ret && blkdev_issue_flush(move->dst->bdev))) {
		btrfs_dev_stat_inc_and_print(move->dst, move->write_failed ?
					     BTRFS_DEV_STAT_WRITE_ERRS : BTRFS_DEV_STAT_FLUSH_ERRS);
		return refuse(move, -EIO, BTRFS_MOVE_STRIPE_TARGET_ERROR);
	}
	return ret;
}

/* The device item gets it in the same transaction. chunk_mutex is held. */
static void add_used_bytes(struct btrfs_trans_handle *trans, struct btrfs_device *device, s64 bytes)
{
	btrfs_device_set_bytes_used(device, device->bytes_used + bytes);
	add_moving_bytes(device, -bytes);
	if (list_empty(&device->post_commit_list))
		list_add_tail(&device->post_commit_list, &trans->transaction->dev_update_list);
}

/* Change the device extents, the device items, the chunk item and its copy in the superblock. */
static int update_items(struct btrfs_stripe_move *move, struct btrfs_trans_handle *trans)
{
	struct btrfs_fs_info *fs_info = move->fs_info;
	struct btrfs_key key = {
		.objectid = BTRFS_FIRST_CHUNK_TREE_OBJECTID,
		.type = BTRFS_CHUNK_ITEM_KEY,
		.offset = move->map->start,
	};
	const unsigned long size = btrfs_chunk_item_size(move->map->num_stripes);
	struct btrfs_chunk *copy __free(kfree) = kmalloc(size, GFP_NOFS | __GFP_NOFAIL);
	const int nr = move->item.stripe;
	u64 len = move->map->stripe_size;
	struct btrfs_path path = { };
	struct extent_buffer *leaf;
	struct btrfs_chunk *item;
	int ret;

	scoped_guard(mutex, &fs_info->chunk_mutex) {
		add_used_bytes(trans, move->src, -len);
		add_used_bytes(trans, move->dst, len);
	}
	ret = insert_dev_extent(trans, move->dst, key.offset, move->to, len) ?:
	      btrfs_free_dev_extent(trans, move->src, move->from, &len) ?:
	      btrfs_update_device(trans, move->src) ?:
	      btrfs_update_device(trans, move->dst) ?:
	      btrfs_search_slot(trans, fs_info->chunk_root, &key, &path, 0, 1);
	if (ret) {
		btrfs_release_path(&path);
		return ret < 0 ? ret : -ENOENT;
	}
	leaf = path.nodes[0];
	item = btrfs_item_ptr(leaf, path.slots[0], struct btrfs_chunk);
	btrfs_set_stripe_devid_nr(leaf, item, nr, move->dst->devid);
	btrfs_set_stripe_offset_nr(leaf, item, nr, move->to);
	write_extent_buffer(leaf, move->dst->uuid,
			    (unsigned long)btrfs_stripe_dev_uuid_nr(item, nr), BTRFS_UUID_SIZE);
	read_extent_buffer(leaf, copy, (unsigned long)item, size);
	btrfs_mark_buffer_dirty(trans, leaf);
	btrfs_release_path(&path);
	if (!(move->map->type & BTRFS_BLOCK_GROUP_SYSTEM))
		return 0;
	guard(mutex)(&fs_info->chunk_mutex);
	return btrfs_del_sys_chunk(fs_info, key.offset) ?:
	       btrfs_add_system_chunk(fs_info, &key, copy, size);
}

/*
 * An error before the first change leaves all as it was, and any other one is an error of the
 * filesystem: no later commit may make the new place valid when others have it.
 */
static int commit_move(struct btrfs_stripe_move *move)
{
	struct btrfs_fs_info *fs_info = move->fs_info;
	struct btrfs_trans_handle *trans = btrfs_start_transaction(fs_info->tree_root, 8);
	int ret;

	ret = PTR_ERR_OR_ZERO(trans);
	if (ret)
		return ret == -ENOSPC ? refuse(move, ret, BTRFS_MOVE_STRIPE_NOT_READ_ONLY) : ret;
	ret = find_devices(move);
	if (ret) {
		btrfs_end_transaction(trans);
		return ret;
	}
	btrfs_reserve_chunk_metadata(trans, true);
	ret = update_items(move, trans);
	btrfs_trans_release_chunk_metadata(trans);
	if (ret)
		btrfs_abort_transaction(trans, ret);
	ret = btrfs_commit_transaction(trans);
	/* Without an abort the changes would be in the next commit. */
	if (ret && !BTRFS_FS_ERROR(fs_info))
		btrfs_handle_fs_error(fs_info, ret, "cannot commit the new place of a stripe");
	return ret;
}

/*
 * The new place is on disk. Put a changed copy in the place of the map: each reader has the old
 * place or the new one, never a mixture. Then let others have the old place.
 */
static void finish_move(struct btrfs_stripe_move *move)
{
	struct btrfs_fs_info *fs_info = move->fs_info;
	struct btrfs_chunk_map *old = move->map;
	const size_t size = btrfs_chunk_map_size(old->num_stripes);
	struct btrfs_chunk_map *new = kmemdup(old, size, GFP_NOFS | __GFP_NOFAIL);

	refcount_set(&new->refs, 1);
	new->stripes[move->item.stripe].dev = move->dst;
	new->stripes[move->item.stripe].physical = move->to;
	scoped_guard(write_lock, &fs_info->mapping_tree_lock) {
		rb_replace_node_cached(&old->rb_node, &new->rb_node, &fs_info->mapping_tree);
		RB_CLEAR_NODE(&old->rb_node);
	}
	btrfs_free_chunk_map(old);
	/* Bios, repairs and discards that may be on the way to the old place hold the old map. */
	while (refcount_read(&old->refs) > 1)
		schedule_timeout_uninterruptible(1);
	if (old->type & BTRFS_BLOCK_GROUP_RAID56_MASK)
		btrfs_clear_rbio_cache(fs_info);
#if __has_include("device-role.h")
	/* What is cached of its devices; device roles may be absent. */
	WRITE_ONCE(move->bg->role_placement, 0);
#endif
	discard_extent(move->src, move->from, old->stripe_size);
	release_extent(move, move->src, move->from);
}

static int move_stripe(struct btrfs_stripe_move *move)
{
	int ret = find_devices(move) ?: make_read_only(move);

	if (ret)
		return ret;
	ret = finish_writes(move) ?: reserve_target(move);
	if (ret)
		goto writeable;
	discard_extent(move->dst, move->to, move->map->stripe_size);
	ret = copy_stripe(move) ?: commit_move(move);
	if (!ret)
		finish_move(move);
	else if (!BTRFS_FS_ERROR(move->fs_info))
		release_extent(move, move->dst, move->to);
writeable:
	make_writeable(move->bg);
	clear_and_wake_up_bit(BLOCK_GROUP_FLAG_MOVING, &move->bg->runtime_flags);
	return ret;
}

/* Look up the chunk. It may be removed until it is read-only. */
static int move_chunk(struct btrfs_stripe_move *move)
{
	const u64 start = move->item.chunk;
	int ret;

	move->bg = btrfs_lookup_block_group(move->fs_info, start);
	move->map = btrfs_find_chunk_map(move->fs_info, start, 1);
	if (move->bg && move->bg->start == start && move->map)
		ret = move_stripe(move);
	else
		ret = refuse(move, -ENOENT, BTRFS_MOVE_STRIPE_NO_CHUNK);
	btrfs_free_chunk_map(move->map);
	if (move->bg)
		btrfs_put_block_group(move->bg);
	return ret;
}

/* Move one item of the list, and tell the caller its result. Returns why to end with it, or 0. */
static int move_item(struct btrfs_stripe_move *move, struct file *file,
		     struct btrfs_ioctl_move_stripe __user *user)
{
	struct btrfs_ioctl_move_stripes_args *args = move->args;
	struct btrfs_ioctl_move_stripe *item = &move->item;
	bool valid;
	int ret;

	if (copy_from_user(item, user, sizeof(*item)))
		return -EFAULT;
	valid = !item->flags && !memchr_inv(item->reserved, 0, sizeof(item->reserved));
	memset_after(item, 0, flags);
	WRITE_ONCE(args->position, 0);
	/* For each one, so that a freeze has to wait for one at most. */
	ret = mnt_want_write_file(file);
	if (ret)
		return ret;
	item->result = valid ? stopped(move) ?: move_chunk(move) :
			       refuse(move, -EINVAL, BTRFS_MOVE_STRIPE_UNSUPPORTED);
	mnt_drop_write_file(file);

	WRITE_ONCE(args->done, args->done + 1);
	if (!item->result)
		args->moved++;
	else if (!args->reason)
		args->reason = item->reason;
	if (copy_to_user(user, item, sizeof(*item)))
		return -EFAULT;
	if (item->reason == BTRFS_MOVE_STRIPE_CANCELED)
		return item->result;
	return BTRFS_FS_ERROR(move->fs_info) ? -EROFS : 0;
}

static int move_list(struct file *file, struct btrfs_fs_info *fs_info,
		     struct btrfs_ioctl_move_stripes_args *args)
{
	struct btrfs_ioctl_move_stripe __user *items = u64_to_user_ptr(args->items);
	struct btrfs_stripe_move move = { .fs_info = fs_info, .args = args };
	const u64 unsupported = BTRFS_FEATURE_INCOMPAT_RAID_STRIPE_TREE |
				BTRFS_FEATURE_INCOMPAT_EXTENT_TREE_V2 |
				BTRFS_FEATURE_INCOMPAT_REMAP_TREE;
	int ret = 0;

	if (btrfs_is_zoned(fs_info) ||
	    btrfs_super_incompat_flags(fs_info->super_copy) & unsupported) {
		args->reason = BTRFS_MOVE_STRIPE_UNSUPPORTED;
		return -EOPNOTSUPP;
	}
	if (btrfs_dev_replace_is_ongoing(&fs_info->dev_replace) ||
	    !btrfs_exclop_start(fs_info, BTRFS_EXCLOP_MOVE_STRIPES)) {
		args->reason = BTRFS_MOVE_STRIPE_EXCLUSIVE_OPERATION;
		return -EBUSY;
	}
	scoped_guard(spinlock, &fs_info->super_lock)
		fs_info->stripe_move = &move;
	for (u64 i = 0; !ret && i < args->nr; i++)
		ret = move_item(&move, file, &items[i]);
	scoped_guard(spinlock, &fs_info->super_lock)
		fs_info->stripe_move = NULL;
	btrfs_exclop_finish(fs_info);
	return ret;
}

/* How far the running move is; or tell it to end. */
static int move_control(struct btrfs_fs_info *fs_info, struct btrfs_ioctl_move_stripes_args *args)
{
	const u32 op = args->op;

	guard(spinlock)(&fs_info->super_lock);
	if (!fs_info->stripe_move)
		return -ENOTCONN;
	if (op == BTRFS_MOVE_STRIPES_CANCEL)
		WRITE_ONCE(fs_info->stripe_move->cancel, true);
	*args = *fs_info->stripe_move->args;
	args->op = op;
	args->items = 0;
	return 0;
}

int btrfs_ioctl_move_stripes(struct file *file, void __user *argp)
{
	struct btrfs_fs_info *fs_info = inode_to_fs_info(file_inode(file));
	struct btrfs_ioctl_move_stripes_args args;
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (copy_from_user(&args, argp, sizeof(args)))
		return -EFAULT;
	if (args.flags || memchr_inv(args.reserved, 0, sizeof(args.reserved)) ||
	    args.op > BTRFS_MOVE_STRIPES_CANCEL)
		return -EINVAL;
	args.reason = 0;
	memset_after(&args, 0, flags);
	ret = args.op == BTRFS_MOVE_STRIPES_START ? move_list(file, fs_info, &args) :
						    move_control(fs_info, &args);
	return copy_to_user(argp, &args, sizeof(args)) ? -EFAULT : ret;
}
