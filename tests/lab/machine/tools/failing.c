/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded: the call number $FAIL_AT of a program to the kernel fails with EIO,
 * without having been made.  Where it was, or how many there were, goes into the
 * file $FAIL_LOG.  Counts what a library calls by name, not what libc does inside.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int calls;

static void note(const char *name)
{
	const char *path = getenv("FAIL_LOG");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%d %s\n", calls, name);
	fclose(file);
}

static int fails(const char *name)
{
	const char *at = getenv("FAIL_AT");

	if (++calls != (at ? atoi(at) : 0))
		return 0;
	note(name);
	errno = EIO;
	return 1;
}

__attribute__((destructor)) static void end(void)
{
	const char *at = getenv("FAIL_AT");

	if (!at || calls < atoi(at) || !atoi(at))
		note("none");
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define WRAP(type, bad, name, parameters, arguments)	\
	type name parameters				\
	{						\
		if (fails(#name))			\
			return bad;			\
		return REAL(name) arguments;		\
	}

/* With a last argument that need not be there. */
#define WRAP_MORE(name, parameters, last, ...)				\
	int name parameters						\
	{								\
		unsigned long more;					\
		va_list list;						\
									\
		va_start(list, last);					\
		more = va_arg(list, unsigned long);			\
		va_end(list);						\
		return fails(#name) ? -1 : REAL(name)(__VA_ARGS__, more);	\
	}

WRAP_MORE(open, (const char *path, int flags, ...), flags, path, flags)
WRAP_MORE(open64, (const char *path, int flags, ...), flags, path, flags)
WRAP_MORE(openat, (int dir, const char *path, int flags, ...), flags, dir, path, flags)
WRAP_MORE(openat64, (int dir, const char *path, int flags, ...), flags, dir, path, flags)
WRAP_MORE(ioctl, (int fd, unsigned long request, ...), request, fd, request)
WRAP(ssize_t, -1, read, (int fd, void *buf, size_t size), (fd, buf, size))
WRAP(ssize_t, -1, write, (int fd, const void *buf, size_t size), (fd, buf, size))
WRAP(int, -1, fsync, (int fd), (fd))
WRAP(int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, -1, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(int, -1, fchown, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
WRAP(int, -1, renameat, (int from, const char *old, int to, const char *new), (from, old, to, new))
WRAP(int, -1, renameat2, (int from, const char *old, int to, const char *new, unsigned int flags),
     (from, old, to, new, flags))
WRAP(int, -1, access, (const char *path, int mode), (path, mode))
WRAP(int, -1, stat, (const char *path, struct stat *st), (path, st))
WRAP(int, -1, stat64, (const char *path, struct stat64 *st), (path, st))
WRAP(int, -1, fstatat, (int dir, const char *path, struct stat *st, int flags),
     (dir, path, st, flags))
WRAP(int, -1, fstatat64, (int dir, const char *path, struct stat64 *st, int flags),
     (dir, path, st, flags))
WRAP(int, -1, fstatfs, (int fd, struct statfs *st), (fd, st))
WRAP(int, -1, fstatfs64, (int fd, struct statfs64 *st), (fd, st))
WRAP(int, -1, fstatvfs, (int fd, struct statvfs *st), (fd, st))
WRAP(int, -1, fstatvfs64, (int fd, struct statvfs64 *st), (fd, st))
WRAP(int, -1, statx, (int dir, const char *path, int flags, unsigned int mask, struct statx *st),
     (dir, path, flags, mask, st))
WRAP(DIR *, NULL, opendir, (const char *path), (path))
WRAP(char *, NULL, realpath, (const char *path, char *resolved), (path, resolved))
