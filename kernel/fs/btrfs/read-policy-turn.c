// SPDX-License-Identifier: GPL-2.0-only
/*
 * One turn after the other on each disk, for streams that take turns on several.
 *
 * Owns the reads that wait for the turn before theirs: who submits one hands it
 * over here, and the completion of the last read of a turn has it sent.  The rule
 * is in read-policy-turn-core.h.  Only reads that the roundrobin policy has marked
 * come here, so others must not be delayed, and a read may wait for nothing but
 * reads that are with its device, or on their way to it.
 *
 * A read that waits holds the bio counter and is part of the load of its device,
 * like one that is in flight, which keeps the device where it is.  Therefore a
 * queue of its own sends it: the end of other reads may wait for that counter.
 */

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/ioprio.h>
#include <linux/task_io_accounting_ops.h>
#include <linux/workqueue.h>
#include "ctree.h"
#include "volumes.h"
#include "read-policy-turn.h"

/* Kept until unmount: reads may wait when the policy changes. */
int btrfs_read_turn_alloc(struct btrfs_read_policy_info *info)
{
	struct workqueue_struct *workers;

	if (info->turn_workers)
		return 0;
	workers = alloc_workqueue("btrfs-read-turn", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!workers)
		return -ENOMEM;
	/* Readers must not see it before it can be used. */
	smp_store_release(&info->turn_workers, workers);
	return 0;
}

void btrfs_read_turn_free(struct btrfs_read_policy_info *info)
{
	if (info->turn_workers)
		destroy_workqueue(info->turn_workers);
	info->turn_workers = NULL;
}

void btrfs_read_turns_init(struct btrfs_device *device)
{
	spin_lock_init(&device->read_turns.lock);
	bio_list_init(&device->read_turns.waiting);
}

/*
 * Whose read it is must be known before another task sends it.  Returns false if
 * none should: BFQ gives a read the priority of the task that sends it.
 */
static bool btrfs_read_turn_own(const struct btrfs_device *device, struct bio *bio)
{
	if (IOPRIO_PRIO_CLASS(bio->bi_ioprio) == IOPRIO_CLASS_NONE)
		bio->bi_ioprio = get_current_ioprio();
	bio_set_dev(bio, device->bdev);
	return bio->bi_ioprio == IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, IOPRIO_BE_NORM);
}

/*
 * A read of a turn is about to be submitted to @device.  Returns true if it has
 * to wait; then it will be sent, and must not be touched anymore.
 */
bool __btrfs_read_turn_waits(struct btrfs_device *device, struct btrfs_bio *bbio)
{
	struct btrfs_read_turns *turns = &device->read_turns;
	struct bio *bio = &bbio->bio;
	const u32 len = bio->bi_iter.bi_size;
	enum btrfs_rr_admission admission;
	unsigned long flags;

	if (!btrfs_read_turn_own(device, bio)) {
		bbio->turn.stream = 0;
		return false;
	}
	spin_lock_irqsave(&turns->lock, flags);
	admission = btrfs_rr_turns_admit(&turns->state, bbio->turn);
	if (admission == BTRFS_RR_PASSES)
		bbio->turn.stream = 0;
	if (admission == BTRFS_RR_WAITS)
		bio_list_add(&turns->waiting, bio);
	spin_unlock_irqrestore(&turns->lock, flags);

	if (admission == BTRFS_RR_WAITS)
		task_io_account_read(len);
	return admission == BTRFS_RR_WAITS;
}

/* The reads of the next turn, linked by bi_next. */
static struct bio *btrfs_read_turn_take(struct btrfs_read_turns *turns)
{
	struct bio_list next = BIO_EMPTY_LIST;
	struct bio *bio;

	while ((bio = bio_list_peek(&turns->waiting)) &&
	       btrfs_rr_turns_release(&turns->state, btrfs_bio(bio)->turn))
		bio_list_add(&next, bio_list_pop(&turns->waiting));
	return next.head;
}

/* Send the reads of a turn; the work is in the first of them. */
static void btrfs_read_turn_send(struct work_struct *work)
{
	struct bio *bio = &container_of(work, struct btrfs_bio, end_io_work)->bio;
	struct blk_plug plug;

	blk_start_plug(&plug);
	while (bio) {
		struct bio *next = bio->bi_next;

		bio->bi_next = NULL;
		btrfs_submit_dev_bio(bio->bi_private, bio);
		bio = next;
	}
	blk_finish_plug(&plug);
}

/* A read of a turn is done, in any context. */
void __btrfs_read_turn_done(struct btrfs_fs_info *fs_info, struct btrfs_device *device)
{
	struct btrfs_read_turns *turns = &device->read_turns;
	struct bio *next = NULL;
	unsigned long flags;

	spin_lock_irqsave(&turns->lock, flags);
	if (btrfs_rr_turns_done(&turns->state))
		next = btrfs_read_turn_take(turns);
	spin_unlock_irqrestore(&turns->lock, flags);
	if (!next)
		return;
	/* Free to use: the end of the read needs it, and may be while this work still runs. */
	INIT_WORK(&btrfs_bio(next)->end_io_work, btrfs_read_turn_send);
	queue_work(fs_info->read_policy.turn_workers, &btrfs_bio(next)->end_io_work);
}
