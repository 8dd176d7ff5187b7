/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The grammar of saved settings: lines "name = value" and comments.  Keeps lines
 * that it does not change.  The backend stores the text; apply.c checks values.
 */
#include <stdio.h>
#include <string.h>

#include "settings/settings.h"

#define HEADER								\
	"# Set again at each mount; see btrfs-policy.conf(5).\n"	\
	"# Roles of devices are not here: the file system keeps them.\n"
#define BLANKS " \t\r"
#define NAP 200000000ULL /* nanoseconds between two polls for a missing mount */

/* ---- Lines -------------------------------------------------------------- */

/* A line of a file: "name = value", or only text to be kept if `name` is NULL. */
struct line {
	const char *start;
	size_t length; /* without the newline */
	const char *name;
	size_t name_length;
	const char *value;
	size_t value_length;
	unsigned int number;
};

static void trim(const char **start, size_t *length)
{
	while (*length && strchr(BLANKS, **start)) {
		++*start;
		--*length;
	}
	while (*length && strchr(BLANKS, (*start)[*length - 1]))
		--*length;
}

/* The separator of a name and a value, or "" for text to be kept; NULL for neither. */
static const char *split_line(struct line *line)
{
	const char *text = line->start, *sign;
	size_t length = line->length;

	line->name = NULL;
	trim(&text, &length);
	if (!length || *text == '#')
		return "";
	sign = memchr(text, '=', length);
	if (!sign)
		return NULL;
	line->name = text;
	line->name_length = sign - text;
	line->value = sign + 1;
	line->value_length = text + length - line->value;
	trim(&line->name, &line->name_length);
	trim(&line->value, &line->value_length);
	return line->name_length && line->value_length ? sign : NULL;
}

static bool next_line(struct line *line, const char **rest)
{
	if (!**rest)
		return false;
	line->start = *rest;
	line->length = strcspn(*rest, "\n");
	*rest += line->length + ((*rest)[line->length] == '\n');
	line->number++;
	return true;
}

static bool is_named(const struct line *line, const char *name)
{
	return line->name && strlen(name) == line->name_length &&
	       !memcmp(name, line->name, line->name_length);
}

static const struct bp_setting *setting_of(const struct line *line)
{
	const struct btrfs_policy_setting *setting;

	for (size_t i = 0; (setting = btrfs_policy_setting_at(i)); i++)
		if (setting->scope == BTRFS_POLICY_SCOPE_FS && is_named(line, setting->name))
			return bp_setting_find(setting->name);
	return NULL;
}

static int damaged(struct btrfs_policy_fs *fs, const struct line *line, const char *what)
{
	return bp_error(fs, -EINVAL,
			"'" BP_SAVED_DIR "/%s.conf' is damaged, line %u: %s; correct or remove it",
			fs->fsid, line->number, what);
}

static int check_line(struct btrfs_policy_fs *fs, struct line *line)
{
	_cleanup_free_ char *what = NULL;

	if (!split_line(line))
		return damaged(fs, line, "it is not 'name = value'");
	if (!line->name || setting_of(line))
		return 0;
	what = bp_format("there is no setting '%.*s' of file systems", (int)line->name_length,
			 line->name);
	return what ? damaged(fs, line, what) : bp_nomem(fs);
}

/* ---- Reading ------------------------------------------------------------ */

static int read_text(struct btrfs_policy_fs *fs, char **text)
{
	int ret = fs->ops->saved_read(fs->backend, fs->fsid, text);

	if (ret == -ENOENT)
		return bp_error(fs, ret, "no settings are saved for '%s' (no '" BP_SAVED_DIR "/%s.conf')",
				fs->mount_point, fs->fsid);
	if (ret == -ENOMEM)
		return bp_nomem(fs);
	if (ret == -EFBIG || ret == -EUCLEAN)
		return bp_error(fs, -EINVAL,
				"'" BP_SAVED_DIR "/%s.conf' is damaged: it is not a settings file; correct or remove it",
				fs->fsid);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot read '" BP_SAVED_DIR "/%s.conf'", fs->fsid);
	return 0;
}

static int parse_text(struct btrfs_policy_fs *fs, const char *text,
		      struct btrfs_policy_request *request)
{
	struct line line = {};
	int ret = 0;

	while (!ret && next_line(&line, &text)) {
		_cleanup_free_ char *value = NULL;

		ret = check_line(fs, &line);
		if (ret || !line.name)
			continue;
		value = strndup(line.value, line.value_length);
		if (!value || btrfs_policy_request_add(request, setting_of(&line)->pub.name, 0, value))
			ret = bp_nomem(fs);
	}
	return ret;
}

BP_PUBLIC int btrfs_policy_saved_read(struct btrfs_policy_fs *fs,
				      struct btrfs_policy_request **request)
{
	struct btrfs_policy_request *new;
	_cleanup_free_ char *text = NULL;
	int ret;

	if (!fs->open)
		return bp_not_open(fs);
	ret = read_text(fs, &text);
	if (ret)
		return ret;
	new = btrfs_policy_request_new();
	ret = new ? parse_text(fs, text, new) : bp_nomem(fs);
	if (ret)
		btrfs_policy_request_free(new);
	else
		*request = new;
	return ret;
}

BP_PUBLIC int btrfs_policy_saved_path(struct btrfs_policy_fs *fs, char **path)
{
	if (!fs->open)
		return bp_not_open(fs);
	*path = bp_format(BP_SAVED_DIR "/%s.conf", fs->fsid);
	return *path ? 0 : bp_nomem(fs);
}

/* ---- Writing ------------------------------------------------------------ */

/* Unless an earlier line has it. */
static void write_value(FILE *stream, struct bp_change *change)
{
	if (!change->saved)
		fprintf(stream, "%s = %s\n", change->pub.setting->name, change->wanted);
	change->saved = true;
}

static void write_old_lines(FILE *stream, const char *old,
			    struct bp_change *changes, size_t count)
{
	struct line line = {};

	while (next_line(&line, &old)) {
		size_t i = 0;

		split_line(&line);
		while (i < count && (changes[i].pub.devid ||
				     !is_named(&line, changes[i].pub.setting->name)))
			i++;
		if (i == count)
			fprintf(stream, "%.*s\n", (int)line.length, line.start);
		else
			write_value(stream, &changes[i]);
	}
}

/* A copy of a device that is mounted beside it has another FSID at each mount. */
static int check_fsid(struct btrfs_policy_fs *fs)
{
	_cleanup_free_ char *temporary = NULL;
	int ret = bp_sysfs_read(fs, "temp_fsid", 0, &temporary);

	if (ret)
		return ret == -ENOENT ? 0 : ret;	/* Linux before 6.7 */
	if (strcmp(temporary, "1"))
		return 0;
	return bp_error(fs, -EOPNOTSUPP,
			"cannot save settings of '%s': another copy of it is mounted, so its FSID holds for this mount only; leave out --save, or unmount both and mount '%s' first",
			fs->mount_point, fs->mount_point);
}

/* The text of the file with these values put in; all other lines stay as they are. */
int bp_saved_compose(struct btrfs_policy_fs *fs, struct bp_change *changes, size_t count,
		     char **text)
{
	_cleanup_free_ char *old = NULL;
	struct line line = {};
	const char *rest;
	size_t length;
	FILE *stream;
	int ret = check_fsid(fs);

	if (!ret)
		ret = read_text(fs, &old);
	if (ret == -ENOENT) {
		old = strdup(HEADER);
		ret = old ? 0 : bp_nomem(fs);
	}
	for (rest = old; !ret && next_line(&line, &rest);)
		ret = check_line(fs, &line);
	if (ret)
		return ret;
	stream = open_memstream(text, &length);
	if (!stream)
		return bp_nomem(fs);
	write_old_lines(stream, old, changes, count);
	for (size_t i = 0; i < count; i++)
		if (!changes[i].pub.devid)
			write_value(stream, &changes[i]);
	if (!fclose(stream))
		return 0;
	free(*text);
	*text = NULL;
	return bp_nomem(fs);
}

int bp_saved_write(struct btrfs_policy_fs *fs, const char *text)
{
	int ret = fs->ops->saved_write(fs->backend, fs->fsid, text);

	if (ret < 0)
		return bp_failed(fs, ret, "cannot write '" BP_SAVED_DIR "/%s.conf'", fs->fsid);
	return 0;
}

/* From before the old text is read until the new one is written. */
int bp_saved_lock(struct btrfs_policy_fs *fs, int *lock)
{
	int ret = fs->ops->saved_lock(fs->backend, lock);

	if (ret < 0)
		return bp_failed(fs, ret, "cannot write '" BP_SAVED_DIR "/%s.conf'", fs->fsid);
	return 0;
}

/* ---- At the time of a mount --------------------------------------------- */

static int try_open(struct btrfs_policy_fs *fs, const char *bdi)
{
	_cleanup_free_ char *target = NULL;
	char fsid[BP_FSID_LENGTH];
	int ret = fs->ops->bdi_fsid(fs->backend, bdi, fsid);

	if (ret == -ENODEV)
		return bp_error(fs, ret, "'%s' is no file system that is mounted or being mounted",
				bdi);
	if (ret == -EAGAIN)
		return ret;
	if (ret < 0)
		return bp_failed(fs, ret, "cannot find the file system of '%s'", bdi);
	target = bp_format("UUID=%s", fsid);
	if (!target)
		return bp_nomem(fs);
	/* The mount is in the table a little later than in sysfs; others may be out of reach. */
	ret = btrfs_policy_fs_open(fs, target);
	return ret == -ENOENT || bp_is_out_of_reach(ret) ? -EAGAIN : ret;
}

BP_PUBLIC int btrfs_policy_fs_open_bdi(struct btrfs_policy_fs *fs, const char *bdi,
				       unsigned int seconds)
{
	uint64_t end = fs->ops->now(fs->backend) + seconds * 1000000000ULL;
	int ret;

	while ((ret = try_open(fs, bdi)) == -EAGAIN) {
		if (fs->ops->now(fs->backend) >= end)
			return bp_error(fs, -ETIMEDOUT,
					"the file system of '%s' was not seen to be mounted for %u seconds",
					bdi, seconds);
		fs->ops->sleep(fs->backend, NAP);
	}
	return ret;
}
