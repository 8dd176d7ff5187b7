/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns names and contents of files below /sys/fs/btrfs/<FSID>/: building the
 * name, reading with an error text, and the "[current] other" form of a choice.
 * File access itself is the backend's.
 */
#include <string.h>

#include "core/handle.h"

/* The devid is put for the one "%llu" that a file's name may have. */
char *bp_sysfs_name(struct btrfs_policy_fs *fs, const char *file, uint64_t devid)
{
	const char *hole = strstr(file, "%llu");

	if (!hole)
		return bp_format("%s/%s", fs->fsid, file);
	return bp_format("%s/%.*s%llu%s", fs->fsid, (int)(hole - file), file,
			 (unsigned long long)devid, hole + 4);
}

int bp_sysfs_read(struct btrfs_policy_fs *fs, const char *file, uint64_t devid, char **text)
{
	_cleanup_free_ char *name = bp_sysfs_name(fs, file, devid);
	_cleanup_free_ char *buf = malloc(BP_SYSFS_LENGTH);
	int ret;

	if (!name || !buf)
		return bp_nomem(fs);
	ret = fs->ops->sysfs_read(fs->backend, name, buf, BP_SYSFS_LENGTH);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot read '/sys/fs/btrfs/%s'", name);
	*text = bp_steal(buf);
	return 0;
}

int bp_sysfs_write(struct btrfs_policy_fs *fs, const char *file, uint64_t devid,
		   const char *text)
{
	_cleanup_free_ char *name = bp_sysfs_name(fs, file, devid);
	int ret;

	if (!name)
		return bp_nomem(fs);
	ret = fs->ops->sysfs_write(fs->backend, name, text);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot write '%s' to '/sys/fs/btrfs/%s'", text, name);
	return 0;
}

/* The word in brackets, without them; -EUCLEAN if there is none. */
int bp_choice_current(const char *list, char **word)
{
	const char *start = strchr(list, '[');
	const char *end = start ? strchr(start, ']') : NULL;

	if (!end || end == start + 1)
		return -EUCLEAN;
	*word = strndup(start + 1, end - start - 1);
	return *word ? 0 : -ENOMEM;
}

static size_t word_length(const char *p)
{
	return strcspn(p, " \t\n[]");
}

static const char *next_word(const char *p)
{
	return p + strspn(p, " \t\n[]");
}

int bp_choice_words(const char *list, char ***words)
{
	size_t count = 0;
	char **result;

	for (const char *p = next_word(list); *p; p = next_word(p + word_length(p)))
		count++;
	result = calloc(count + 1, sizeof(*result));
	if (!result)
		return -ENOMEM;
	count = 0;
	for (const char *p = next_word(list); *p; p = next_word(p + word_length(p))) {
		result[count] = strndup(p, word_length(p));
		if (!result[count++]) {
			btrfs_policy_strv_free(result);
			return -ENOMEM;
		}
	}
	*words = result;
	return 0;
}

BP_PUBLIC void btrfs_policy_strv_free(char **values)
{
	for (char **p = values; p && *p; p++)
		free(*p);
	free(values);
}
