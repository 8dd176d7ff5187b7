// SPDX-License-Identifier: GPL-2.0-only
/*
 * A disk's content in a sparse file of the host, for User-Mode Linux: it costs
 * the lab no memory, is there when the lab is gone - however it went - and can
 * be checked with the host's own tools.  System calls of the host only; other
 * architectures get an error and keep the content in memory.
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

int lab_host_open(const char *file, u64 size)
{
	int fd = os_open_file(file, of_create(of_rdwr(OPENFLAGS())), 0644);

	if (fd >= 0 && syscall(__NR_ftruncate, fd, size) < 0) {
		os_close_file(fd);
		return -EIO;
	}
	return fd;
}

void lab_host_close(int fd)
{
	os_close_file(fd);
}

/* Kernel addresses are the UML process's own, so the host reads them directly. */
int lab_host_rw(int fd, bool write, struct kvec *v, int n, u64 pos)
{
	long left = 0, done;
	int i;

	for (i = 0; i < n; i++)
		left += v[i].iov_len;
	done = syscall(write ? __NR_pwritev : __NR_preadv, fd, v, n, pos, 0);
	return done == left ? 0 : -EIO;
}

int lab_host_discard(int fd, u64 pos, u64 len)
{
	int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	return syscall(__NR_fallocate, fd, mode, pos, len) < 0 ? -EIO : 0;
}
#else
int lab_host_open(const char *file, u64 size)
{
	return -EOPNOTSUPP;
}

void lab_host_close(int fd)
{
}

int lab_host_rw(int fd, bool write, struct kvec *v, int n, u64 pos)
{
	return -EOPNOTSUPP;
}

int lab_host_discard(int fd, u64 pos, u64 len)
{
	return -EOPNOTSUPP;
}
#endif
