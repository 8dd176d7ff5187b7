// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block devices that behave like disks: blk-mq on one side, the pure model on
 * the other.  A request's data moves when it arrives, its completion comes from
 * one timer per device at the moment the model gives.  Owns the devices' life;
 * knows no service time and no place of storage.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "labdisk.h"

#define MAX_DISKS	26

static DEFINE_MUTEX(disks_lock);
static LIST_HEAD(lab_disks);
static int lab_major;

static bool dark;
module_param(dark, bool, 0644);
MODULE_PARM_DESC(dark, "no disk is served");

static DEFINE_SPINLOCK(writes_lock);
static unsigned int writes_left;
module_param(writes_left, uint, 0644);
MODULE_PARM_DESC(writes_left, "the disks turn dark with the last of so many writes; 0: they do not");

static bool lab_off(const struct lab_disk *l)
{
	return READ_ONCE(l->power) == LAB_OFF || READ_ONCE(dark);
}

/* With the last of them it is dark already: that one is not done. */
static void count_write(struct request *rq)
{
	if (!READ_ONCE(writes_left) || !op_is_write(req_op(rq)))
		return;
	spin_lock_irq(&writes_lock);
	if (writes_left && !--writes_left)
		WRITE_ONCE(dark, true);
	spin_unlock_irq(&writes_lock);
}

/* Called with the lock held. */
static void arm_timer(struct lab_disk *l)
{
	u64 next = lm_next(l->model);

	if (next != LM_NEVER)
		hrtimer_start(&l->timer, ns_to_ktime(next), HRTIMER_MODE_ABS);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct lab_disk *l = container_of(timer, struct lab_disk, timer);
	struct request *rq, *done = NULL, **last = &done;
	unsigned long flags;
	u32 slot;

	spin_lock_irqsave(&l->lock, flags);
	while (lm_poll(l->model, ktime_get_ns(), &slot)) {
		rq = blk_mq_tag_to_rq(l->set.tags[0], slot);
		rq->rq_next = NULL;
		*last = rq;
		last = &rq->rq_next;
	}
	arm_timer(l);
	spin_unlock_irqrestore(&l->lock, flags);
	while ((rq = done)) {
		done = rq->rq_next;
		rq->rq_next = NULL;
		blk_mq_complete_request(rq);
	}
	return HRTIMER_NORESTART;
}

static enum lm_op op_of(const struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		return LM_READ;
	case REQ_OP_FLUSH:
		return LM_FLUSH;
	case REQ_OP_DISCARD:
		return LM_DISCARD;
	default:
		return LM_WRITE;
	}
}

/* From a request's start and from its end, which comes with interrupts off. */
static void count_error(struct lab_disk *l)
{
	unsigned long flags;

	spin_lock_irqsave(&l->lock, flags);
	l->model->st.errors++;
	spin_unlock_irqrestore(&l->lock, flags);
}

static blk_status_t lab_queue_rq(struct blk_mq_hw_ctx *hctx,
				 const struct blk_mq_queue_data *bd)
{
	struct lab_disk *l = hctx->queue->queuedata;
	struct request *rq = bd->rq;
	struct lm_req r = {
		.pos = blk_rq_pos(rq) << SECTOR_SHIFT,
		.len = blk_rq_bytes(rq),
		.op = op_of(rq),
		.fua = rq->cmd_flags & REQ_FUA,
	};
	blk_status_t *status = blk_mq_rq_to_pdu(rq);

	blk_mq_start_request(rq);
	if (l->model->p.cpu)
		ndelay(l->model->p.cpu);
	count_write(rq);
	if (lab_off(l)) {
		count_error(l);
		return BLK_STS_IOERR;
	}
	*status = errno_to_blk_status(lab_store_request(l, rq));
	spin_lock_irq(&l->lock);
	lm_submit(l->model, ktime_get_ns(), rq->tag, &r);
	arm_timer(l);
	spin_unlock_irq(&l->lock);
	return BLK_STS_OK;
}

static void lab_complete(struct request *rq)
{
	struct lab_disk *l = rq->q->queuedata;
	blk_status_t status = *(blk_status_t *)blk_mq_rq_to_pdu(rq);

	if (lab_off(l))
		status = BLK_STS_IOERR;
	if (status)
		count_error(l);
	blk_mq_end_request(rq, status);
}

static const struct blk_mq_ops lab_mq_ops = {
	.queue_rq = lab_queue_rq,
	.complete = lab_complete,
};

static void lab_free(struct lab_disk *l)
{
	lab_store_close(l);
	kvfree(l->model);
	kfree(l);
}

/* The last user has gone. */
static void lab_free_disk(struct gendisk *disk)
{
	struct lab_disk *l = disk->private_data;

	blk_mq_free_tag_set(&l->set);
	lab_free(l);
}

static const struct block_device_operations lab_fops = {
	.owner = THIS_MODULE,
	.free_disk = lab_free_disk,
};

/* As a SATA disk behind AHCI has them, or an ordinary NVMe one. */
static void limits_of(const struct lm_param *p, struct queue_limits *lim)
{
	bool nvme = p->kind == LM_NVME;

	lim->logical_block_size = 512;
	lim->physical_block_size = nvme ? 512 : 4096;
	lim->max_hw_sectors = nvme ? 1024 : 2560;
	lim->max_segments = nvme ? 128 : 168;
	lim->max_segment_size = 65536;
	lim->features = p->wcache ? BLK_FEAT_WRITE_CACHE : 0;
	if (p->fua)
		lim->features |= BLK_FEAT_FUA;
	if (lm_rotates(p)) {
		lim->features |= BLK_FEAT_ROTATIONAL;
	} else {
		lim->max_hw_discard_sectors = UINT_MAX >> SECTOR_SHIFT;
		lim->discard_granularity = 4096;
	}
}

static int alloc_queue(struct lab_disk *l)
{
	struct queue_limits lim = { };
	const struct lm_param *p = &l->model->p;
	int ret;

	l->set.ops = &lab_mq_ops;
	l->set.nr_hw_queues = 1;
	l->set.queue_depth = p->queue;
	l->set.numa_node = NUMA_NO_NODE;
	l->set.cmd_size = sizeof(blk_status_t);
	l->set.flags = LAB_MERGE | BLK_MQ_F_BLOCKING;
	if (p->kind == LM_NVME)
		l->set.flags |= BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	ret = blk_mq_alloc_tag_set(&l->set);
	if (ret)
		return ret;
	limits_of(p, &lim);
	l->disk = blk_mq_alloc_disk(&l->set, &lim, l);
	if (IS_ERR(l->disk)) {
		blk_mq_free_tag_set(&l->set);
		return PTR_ERR(l->disk);
	}
	return 0;
}

static int add_to_system(struct lab_disk *l)
{
	struct gendisk *disk = l->disk;
	int ret;

	disk->major = lab_major;
	disk->first_minor = l->index * 16;
	disk->minors = 16;
	disk->fops = &lab_fops;
	disk->private_data = l;
	snprintf(disk->disk_name, DISK_NAME_LEN, "labd%c", 'a' + l->index);
	set_capacity(disk, l->model->p.size >> SECTOR_SHIFT);
	ret = device_add_disk(NULL, disk, lab_attribute_groups);
	if (ret)
		put_disk(disk);		/* frees l */
	return ret;
}

/* The lowest letter that is not taken; the list is in that order. */
static int free_index(struct list_head **place)
{
	struct lab_disk *l;
	int i = 0;

	*place = &lab_disks;
	list_for_each_entry(l, &lab_disks, list) {
		if (l->index != i)
			break;
		i++;
		*place = &l->list;
	}
	return i < MAX_DISKS ? i : -ENOSPC;
}

static struct lab_disk *lab_alloc(const char *spec, size_t len)
{
	struct lab_disk *l = kzalloc(sizeof(*l), GFP_KERNEL);
	char why[64];

	if (!l)
		return NULL;
	l->model = kvzalloc(sizeof(*l->model), GFP_KERNEL);
	if (l->model && !lm_parse(&l->model->p, spec, len, why, sizeof(why))) {
		spin_lock_init(&l->lock);
		lab_timer_setup(&l->timer, on_timer);
		lm_setup(l->model, ktime_get_ns());
		return l;
	}
	if (l->model)
		pr_err("labdisk: \"%.*s\": bad word \"%s\"\n", (int)len, spec, why);
	kvfree(l->model);
	kfree(l);
	return NULL;
}

/* "kind:name=value,...[@file]"; len excludes the end of the text. */
static int add_one(const char *spec, size_t len)
{
	const char *at = memchr(spec, '@', len);
	struct lab_disk *l = lab_alloc(spec, at ? at - spec : len);
	char *file = at ? kstrndup(at + 1, spec + len - at - 1, GFP_KERNEL) : NULL;
	struct list_head *place;
	int ret = l ? lab_store_open(l, file) : -EINVAL;

	kfree(file);
	if (!l)
		return ret;
	l->index = free_index(&place);
	if (!ret && l->index < 0)
		ret = l->index;
	if (!ret)
		ret = alloc_queue(l);
	if (ret) {
		lab_free(l);
		return ret;
	}
	ret = add_to_system(l);
	if (!ret)
		list_add(&l->list, place);
	return ret;
}

static int add_all(const char *specs)
{
	int ret = 0;

	mutex_lock(&disks_lock);
	while (*specs && !ret) {
		size_t len = strcspn(specs, ";\n");

		if (len)
			ret = add_one(specs, len);
		specs += len;
		specs += strspn(specs, ";\n");
	}
	mutex_unlock(&disks_lock);
	return ret;
}

static void remove_one(struct lab_disk *l)
{
	struct gendisk *disk = l->disk;

	list_del(&l->list);
	blk_mark_disk_dead(disk);
	del_gendisk(disk);
	hrtimer_cancel(&l->timer);
	put_disk(disk);
}

static void remove_all(void)
{
	struct lab_disk *l, *next;

	mutex_lock(&disks_lock);
	list_for_each_entry_safe(l, next, &lab_disks, list)
		remove_one(l);
	mutex_unlock(&disks_lock);
}

static char *disks;
module_param(disks, charp, 0444);
MODULE_PARM_DESC(disks, "specifications of disks, separated by ;");

/* After loading: one more disk, and one pulled out, whoever uses it. */
static int add_set(const char *val, const struct kernel_param *kp)
{
	return lab_major > 0 ? add_all(val) : -EAGAIN;
}

static int remove_set(const char *val, const struct kernel_param *kp)
{
	struct lab_disk *l;
	int ret = -ENODEV;

	mutex_lock(&disks_lock);
	list_for_each_entry(l, &lab_disks, list)
		if (sysfs_streq(val, l->disk->disk_name)) {
			remove_one(l);
			ret = 0;
			break;
		}
	mutex_unlock(&disks_lock);
	return ret;
}

static const struct kernel_param_ops add_ops = { .set = add_set };
static const struct kernel_param_ops remove_ops = { .set = remove_set };
module_param_cb(add, &add_ops, NULL, 0200);
module_param_cb(remove, &remove_ops, NULL, 0200);

static int __init labdisk_init(void)
{
	int ret = register_blkdev(0, "labdisk");

	if (ret < 0)
		return ret;
	lab_major = ret;
	ret = disks ? add_all(disks) : 0;
	if (ret) {
		remove_all();
		unregister_blkdev(lab_major, "labdisk");
	}
	return ret;
}

static void __exit labdisk_exit(void)
{
	remove_all();
	unregister_blkdev(lab_major, "labdisk");
}

module_init(labdisk_init);
module_exit(labdisk_exit);
MODULE_DESCRIPTION("Modelled hard disks and SSDs");
MODULE_LICENSE("GPL");
