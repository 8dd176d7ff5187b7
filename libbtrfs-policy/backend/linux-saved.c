/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of the real machine: files of saved settings, and which file system a
 * bdi device is.  A file is written whole or not at all, also when power fails or
 * any call does.  Returns 0 or -errno, does not print, does not parse settings.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/linux.h"
#include "core/handle.h"

/* A longer file cannot be a valid one. */
#define LONGEST 65536

static inline void close_at_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_close_ BP_CLEANUP(close_at_end)

/* ---- Reading ------------------------------------------------------------ */

static int read_all(int fd, char *buf, size_t size, size_t *length)
{
	*length = 0;
	while (*length < size) {
		ssize_t got = read(fd, buf + *length, size - *length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return 0;
		*length += got;
	}
	return -EFBIG;
}

int bp_linux_saved_read(void *self, const char *fsid, char **text)
{
	_cleanup_free_ char *path = bp_format(BP_SAVED_DIR "/%s.conf", fsid);
	_cleanup_free_ char *buf = malloc(LONGEST + 1);
	_cleanup_close_ int fd = -1;
	size_t length;
	int ret;

	if (!path || !buf)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	ret = read_all(fd, buf, LONGEST, &length);
	if (ret)
		return ret;
	if (memchr(buf, '\0', length))
		return -EUCLEAN;
	buf[length] = '\0';
	*text = bp_steal(buf);
	return 0;
}

/* ---- Writing ------------------------------------------------------------ */

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t done = write(fd, text, left);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		text += done;
		left -= done;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/*
 * Of two programs that read a file, put their lines into it and write it, one would
 * lose its lines.  Where the file system knows no locks that is how it is.
 */
int bp_linux_saved_lock(void *self, int *lock)
{
	if (mkdir(BP_SAVED_DIR, 0755) < 0 && errno != EEXIST)
		return -errno;
	*lock = open(BP_SAVED_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*lock < 0)
		return -errno;
	while (flock(*lock, LOCK_EX) < 0 && errno == EINTR)
		;
	return 0;
}

void bp_linux_saved_unlock(void *self, int lock)
{
	close(lock);
}

/* Owner and mode stay as an administrator has set them. */
static int write_new(int dir, const char *name, const char *new, const char *text)
{
	_cleanup_close_ int fd = openat(dir, new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
					0600);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstatat(dir, name, &st, 0) < 0) {
		if (errno != ENOENT || fchmod(fd, 0644) < 0)
			return -errno;
	} else if (fchown(fd, st.st_uid, st.st_gid) < 0 || fchmod(fd, st.st_mode & 07777) < 0) {
		return -errno;
	}
	return write_all(fd, text);
}

/* Both names change places, so that there is a way back, where the file system can do it. */
static int put_in_place(int dir, const char *new, const char *name)
{
	bool exchanged = renameat2(dir, new, dir, name, RENAME_EXCHANGE) == 0;
	bool is_first = !exchanged && errno == ENOENT;
	int ret;

	if (!exchanged && !is_first && errno != EINVAL)
		return -errno;
	if (!exchanged && renameat(dir, new, dir, name) < 0)
		return -errno;
	if (fsync(dir) == 0)
		return 0;
	ret = -errno;
	if (exchanged)
		renameat2(dir, new, dir, name, RENAME_EXCHANGE);
	else if (is_first)
		unlinkat(dir, name, 0);
	return ret;
}

/* The folder of a file, and its name there.  A link stays, and has to lead to a file. */
static int open_target(const char *path, int *dir, char **name)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	char *slash, letter;

	if (!real && errno != ENOENT)
		return -errno;
	if (!real && readlink(path, &letter, 1) >= 0)
		return -ENOENT;
	if (!real)
		real = strdup(path);
	slash = real ? strrchr(real, '/') : NULL;
	*name = slash ? strdup(slash + 1) : NULL;
	if (!*name)
		return -ENOMEM;
	*slash = '\0';
	*dir = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *dir < 0 ? -errno : 0;
}

int bp_linux_saved_write(void *self, const char *fsid, const char *text)
{
	_cleanup_free_ char *path = bp_format(BP_SAVED_DIR "/%s.conf", fsid);
	_cleanup_free_ char *name = NULL;
	_cleanup_free_ char *new = bp_format(".%s.conf.%ld", fsid, (long)getpid());
	_cleanup_close_ int dir = -1;
	int ret;

	if (!path || !new)
		return -ENOMEM;
	ret = open_target(path, &dir, &name);
	if (ret)
		return ret;
	ret = write_new(dir, name, new, text);
	if (!ret)
		ret = put_in_place(dir, new, name);
	unlinkat(dir, new, 0);
	return ret;
}

/* ---- Mounts under way --------------------------------------------------- */

/* 1 if the file system with this FSID has that bdi device. */
static int has_bdi(int dir, const char *fsid, const char *bdi)
{
	_cleanup_free_ char *link = bp_format("%s/bdi", fsid);
	char target[4096];
	const char *slash;
	ssize_t length;

	if (!link)
		return -ENOMEM;
	length = readlinkat(dir, link, target, sizeof(target) - 1);
	if (length < 0)
		return 0;
	target[length] = '\0';
	slash = strrchr(target, '/');
	return slash && !strcmp(slash + 1, bdi);
}

static int search_fsids(DIR *dir, const char *bdi, char *fsid)
{
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		int ret;

		if (strlen(entry->d_name) != BP_FSID_LENGTH - 1)
			continue;
		ret = has_bdi(dirfd(dir), entry->d_name, bdi);
		if (ret > 0)
			memcpy(fsid, entry->d_name, BP_FSID_LENGTH);
		if (ret)
			return ret > 0 ? 0 : ret;
	}
	return -EAGAIN;
}

/* -EAGAIN: its mount goes on; -ENODEV: there is no such device. */
int bp_linux_bdi_fsid(void *self, const char *bdi, char *fsid)
{
	_cleanup_free_ char *path = bp_format("/sys/class/bdi/%s", bdi);
	DIR *dir;
	int ret;

	if (!path)
		return -ENOMEM;
	if (!*bdi || *bdi == '.' || strchr(bdi, '/') || access(path, F_OK) < 0)
		return -ENODEV;
	dir = opendir("/sys/fs/btrfs");
	if (!dir)
		return errno == ENOENT ? -EAGAIN : -errno;
	ret = search_fsids(dir, bdi, fsid);
	closedir(dir);
	return ret;
}
