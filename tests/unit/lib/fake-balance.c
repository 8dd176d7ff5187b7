/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The made-up kernel at work: it sets roles, moves chunks as its allocator would place
 * them, and moves stripes.
 */
#include <limits.h>
#include <string.h>

#include "fake.h"

int fake_roles(void *self, struct btrfs_ioctl_device_roles_args *args)
{
	const struct btrfs_ioctl_device_role *list = (void *)(uintptr_t)args->devices;
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	fake->role_calls++;
	if (fake->roles_result) {
		args->reason = fake->roles_reason;
		args->failed_devid = fake->roles_reason ? list[0].devid : 0;
		return fake->roles_result;
	}
	for (uint32_t i = 0; i < args->nr; i++) {
		struct fake_device *device = fake_device_find(fake, list[i].devid);

		/* As on disk: it is a number of the kernel's. */
		device->type = list[i].role == 5 ? (device->type & ~7ULL) | 5 :
						   bp_role_to_disk(list[i].role, device->type);
	}
	return 0;
}

static const struct btrfs_balance_args *
filter_of(const struct btrfs_ioctl_balance_args *args, uint64_t type)
{
	if (type & BTRFS_BLOCK_GROUP_DATA)
		return args->flags & BTRFS_BALANCE_DATA ? &args->data : NULL;
	if (type & BTRFS_BLOCK_GROUP_SYSTEM)
		return args->flags & BTRFS_BALANCE_SYSTEM ? &args->sys : NULL;
	return args->flags & BTRFS_BALANCE_METADATA ? &args->meta : NULL;
}

static bool wanted(const struct btrfs_ioctl_balance_args *args, const struct fake_chunk *chunk)
{
	const struct btrfs_balance_args *filter = filter_of(args, chunk->type);

	return filter && filter->flags == BTRFS_BALANCE_ARGS_VRANGE &&
	       chunk->logical < filter->vend &&
	       chunk->logical + chunk->length > filter->vstart;
}

/* The devices as the allocator sees them: with roles where it knows them, else without. */
static void fill_candidates(struct fake *fake, struct bp_candidate *candidates)
{
	uint64_t start;

	for (size_t i = 0; i < fake->device_count; i++) {
		const struct fake_device *device = &fake->devices[i];
		bool obeys = (fake->kernel == FAKE_OURS || fake->kernel == FAKE_HINT) &&
			     !fake->allocator_errs;

		candidates[i] = (struct bp_candidate){
			.devid = device->devid,
			.role = obeys ? bp_role_from_disk(device->type) : 0,
			.writeable = !device->missing,
			.size = device->size,
			.free_space = fake_unallocated(fake, device) - MiB,
		};
		candidates[i].hole = fake_hole(fake, device, UINT64_MAX, &start);
	}
}

/* Fills free space in correctly placed chunks of the type. */
static void move_into_free(struct fake *fake, size_t from, uint64_t *left)
{
	struct bp_candidate candidates[FAKE_DEVICES];

	fill_candidates(fake, candidates);
	for (size_t i = 0; i < fake->chunk_count && *left; i++) {
		struct fake_chunk *to = &fake->chunks[i];
		const struct btrfs_policy_chunk chunk = {
			.type = to->type, .stripe_length = fake_stripe_length(to),
			.stripes = to->stripes, .devids = to->devids,
		};
		uint64_t part = to->length - to->used;

		if (i == from || to->type != fake->chunks[from].type ||
		    bp_classify(candidates, fake->device_count, &chunk))
			continue;
		part = part < *left ? part : *left;
		to->used += part;
		*left -= part;
	}
}

/* One new chunk for as much of the rest as it can hold. */
static int move_part(struct fake *fake, uint64_t type, uint64_t *left)
{
	struct fake_chunk *new = &fake->chunks[fake->chunk_count];
	uint64_t devids[2 * FAKE_DEVICES];
	struct btrfs_policy_chunk made;
	struct bp_candidate candidates[FAKE_DEVICES];
	int ret;

	fill_candidates(fake, candidates);
	ret = bp_select(candidates, fake->device_count, type, &made, devids, NULL);
	if (ret)
		return ret;
	new->type = type;
	new->length = made.length;
	new->stripes = made.stripes;
	new->used = *left < made.length ? *left : made.length;
	memcpy(new->devids, devids, new->stripes * sizeof(*devids));
	*left -= new->used;
	fake_place_chunk(fake);
	return 0;
}

/* Frees the old chunk when all its data has moved; else undoes the moves. */
static int relocate(struct fake *fake, size_t index)
{
	static __thread struct fake before; /* too large for a stack */
	struct fake_chunk *chunk = &fake->chunks[index];
	uint64_t left = chunk->used;
	int ret = 0;

	before = *fake;
	move_into_free(fake, index, &left);
	while (!ret && left)
		ret = move_part(fake, chunk->type, &left);
	if (ret) {
		*fake = before;
		return ret;
	}
	fake_remove_chunk(fake, index);
	return 0;
}

static bool refuses(struct fake *fake, const struct btrfs_ioctl_balance_args *args,
		    uint64_t logical)
{
	/* Limited, so that a run that never gives up terminates. */
	if (!fake->refuses || fake->balances > FAKE_CHUNKS || !fake->refuses(fake, logical))
		return false;
	if (fake->refuses_paused)
		fake->interrupted = *args;
	return true;
}

static int balance_chunks(struct fake *fake, struct btrfs_ioctl_balance_args *args)
{
	int ret;

	for (size_t i = 0; i < fake->chunk_count; i++) {
		if (!wanted(args, &fake->chunks[i]))
			continue;
		if (refuses(fake, args, fake->chunks[i].logical))
			return -ENOSPC;
		fake->moved[fake->balances - 1] = fake->chunks[i].logical;
		ret = relocate(fake, i);
		args->stat.completed += !ret;
		return ret;
	}
	return 0;
}

/* It did its work, and is gone. */
static void fake_end_interrupted(struct fake *fake)
{
	fake->balances++;
	balance_chunks(fake, &fake->interrupted);
	memset(&fake->interrupted, 0, sizeof(fake->interrupted));
	fake_set_file(fake, FAKE_FSID "/exclusive_operation", "none");
}

static void fake_pass_interrupted(struct fake *fake)
{
	if (!fake->interrupted_then) {
		fake_end_interrupted(fake);
		return;
	}
	fake->interrupted.meta.vstart = fake->interrupted_then;
	fake->interrupted.meta.vend = fake->interrupted_then + 1;
	fake->interrupted_scans = UINT_MAX;
}

int fake_balance_state(void *self, struct btrfs_ioctl_balance_args *args)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (fake->interrupted.state & BTRFS_BALANCE_STATE_RUNNING && !fake->interrupted_scans--)
		fake_pass_interrupted(fake);
	if (fake->busy_scans && fake->busy_by_user)
		return 0;
	if (!fake->interrupted.flags)
		return -ENOTCONN;
	*args = fake->interrupted;
	return 0;
}

#define FOUR_SECONDS 4000000000ULL

int fake_balance(void *self, struct btrfs_ioctl_balance_args *args)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (args->flags & BTRFS_BALANCE_RESUME) {
		if (!fake->interrupted.flags)
			return -ENOTCONN;
		fake_end_interrupted(fake);
		args->state = fake->resume_state;
		return fake->resume_result;
	}
	fake->asked = *args;
	fake->balances++;
	fake->clock += FOUR_SECONDS;
	if (fake->balances == fake->busy_after)
		fake->busy_scans = 6;
	if ((fake->balance_special && fake->balances >= fake->balance_special &&
	     fake->balances <= fake->balance_special + fake->balance_again) ||
	    (fake->balance_every_other && fake->balances % 2)) {
		args->state = fake->balance_state;
		return fake->balance_result;
	}
	return fake->balance_skips ? 0 : balance_chunks(fake, args);
}

/* ---- Stripes ------------------------------------------------------------ */

void fake_can_move_stripes(struct fake *fake)
{
	fake_set_file(fake, "features/move_stripe", "0");
}

static int refuse_stripe(struct btrfs_ioctl_move_stripe *item, int error, uint32_t reason)
{
	item->reason = reason;
	return error;
}

static int move_one_stripe(struct fake *fake, struct btrfs_ioctl_move_stripe *item)
{
	const struct fake_device *device = fake_device_find(fake, item->devid);
	struct fake_chunk *chunk = NULL;
	uint64_t start, length;

	for (size_t i = 0; i < fake->chunk_count; i++)
		if (fake->chunks[i].logical == item->chunk)
			chunk = &fake->chunks[i];
	if (!chunk || item->stripe >= chunk->stripes)
		return refuse_stripe(item, -ENOENT, BTRFS_MOVE_STRIPE_NO_CHUNK);
	if (!device || device->missing ||
	    fake_device_find(fake, chunk->devids[item->stripe])->missing)
		return refuse_stripe(item, -EROFS, BTRFS_MOVE_STRIPE_NO_DEVICE);
	for (uint32_t i = 0; i < chunk->stripes; i++)
		if (chunk->devids[i] == item->devid &&
		    (i == item->stripe || !(chunk->type & BTRFS_BLOCK_GROUP_DUP)))
			return refuse_stripe(item, -EEXIST, BTRFS_MOVE_STRIPE_TARGET_HAS_STRIPE);
	length = fake_stripe_length(chunk);
	if (fake_hole(fake, device, length, &start) < length)
		return refuse_stripe(item, -ENOSPC, BTRFS_MOVE_STRIPE_NO_SPACE);
	fake_device_find(fake, chunk->devids[item->stripe])->has_holes = true;
	chunk->devids[item->stripe] = item->devid;
	chunk->offsets[item->stripe] = start;
	item->copied = length * (chunk->used >> 10) / (chunk->length >> 10);
	return 0;
}

int fake_move_stripes(void *self, struct btrfs_ioctl_move_stripes_args *args)
{
	struct btrfs_ioctl_move_stripe *items = (void *)(uintptr_t)args->items;
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	args->done = args->moved = args->copied = args->reason = 0;
	for (uint64_t i = 0; i < args->nr; i++) {
		unsigned int nth = ++fake->stripe_moves;

		fake->clock += 1000000000ULL;
		fake->stripes[nth - 1].chunk = items[i].chunk;
		fake->stripes[nth - 1].stripe = items[i].stripe;
		fake->stripes[nth - 1].devid = items[i].devid;
		if (items[i].chunk == fake->stripe_chunk ||
		    (fake->stripe_special && nth >= fake->stripe_special &&
		     nth <= fake->stripe_special + fake->stripe_again)) {
			items[i].result = refuse_stripe(&items[i], fake->stripe_result,
							fake->stripe_reason);
			args->reason = fake->stripe_reason;
		} else {
			items[i].result = move_one_stripe(fake, &items[i]);
		}
		args->done++;
		args->moved += !items[i].result;
		args->copied += items[i].copied;
		if (items[i].result && fake->stripe_call)
			return items[i].result;
	}
	return 0;
}
