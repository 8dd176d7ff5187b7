// SPDX-License-Identifier: GPL-2.0-only
/*
 * A disk's content outside of the machine, so that it costs the machine no memory,
 * is there when it is gone - however it went - and can be checked with the host's
 * own tools.  Under User-Mode Linux in a sparse file, by system calls of the host;
 * elsewhere on a block device, which is one of the emulator's.
 */
#include <linux/kernel.h>
#include <linux/errno.h>
#include <linux/uio.h>
#include "labdisk.h"

#ifdef CONFIG_UML
#include <linux/falloc.h>
#include <asm/unistd.h>
#include <os.h>

/* The C library's, exported by the UML kernel to its modules. */
long syscall(long number, ...);

int lab_host_open(struct lab_disk *l, const char *file)
{
	int fd = os_open_file(file, of_create(of_rdwr(OPENFLAGS())), 0644);

	if (fd >= 0 && syscall(__NR_ftruncate, fd, l->model->p.size) < 0) {
		os_close_file(fd);
		return -EIO;
	}
	l->host_fd = fd;
	return min(fd, 0);
}

void lab_host_close(struct lab_disk *l)
{
	os_close_file(l->host_fd);
}

/* Kernel addresses are the UML process's own, so the host reads them directly. */
int lab_host_rw(struct lab_disk *l, bool write, struct kvec *v, int n, u64 pos)
{
	long left = 0, done;
	int i;

	for (i = 0; i < n; i++)
		left += v[i].iov_len;
	done = syscall(write ? __NR_pwritev : __NR_preadv, l->host_fd, v, n, pos, 0);
	return done == left ? 0 : -EIO;
}

int lab_host_discard(struct lab_disk *l, u64 pos, u64 len)
{
	int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	return syscall(__NR_fallocate, l->host_fd, mode, pos, len) < 0 ? -EIO : 0;
}
#else
#include <linux/blkdev.h>

int lab_host_open(struct lab_disk *l, const char *file)
{
	l->host_dev = bdev_file_open_by_path(file, BLK_OPEN_READ | BLK_OPEN_WRITE, l, NULL);
	return PTR_ERR_OR_ZERO(l->host_dev);
}

void lab_host_close(struct lab_disk *l)
{
	fput(l->host_dev);
}

/* Of a request that is issued where it was submitted: a bio would wait for its end. */
static struct bio_list *outer_bios(struct bio_list *bios)
{
	struct bio_list *outer = current->bio_list;

	current->bio_list = bios;
	return outer;
}

int lab_host_rw(struct lab_disk *l, bool write, struct kvec *v, int n, u64 pos)
{
	struct bio *bio = bio_alloc(file_bdev(l->host_dev), n,
				    write ? REQ_OP_WRITE : REQ_OP_READ, GFP_NOIO);
	struct bio_list *outer = outer_bios(NULL);
	int i, ret;

	bio->bi_iter.bi_sector = pos >> SECTOR_SHIFT;
	for (i = 0; i < n; i++)
		__bio_add_page(bio, virt_to_page(v[i].iov_base), v[i].iov_len,
			       offset_in_page(v[i].iov_base));
	ret = submit_bio_wait(bio);
	bio_put(bio);
	outer_bios(outer);
	return ret;
}

int lab_host_discard(struct lab_disk *l, u64 pos, u64 len)
{
	struct bio_list *outer = outer_bios(NULL);
	int ret = blkdev_issue_discard(file_bdev(l->host_dev), pos >> SECTOR_SHIFT,
				       len >> SECTOR_SHIFT, GFP_NOIO);

	outer_bios(outer);
	return ret;
}
#endif
