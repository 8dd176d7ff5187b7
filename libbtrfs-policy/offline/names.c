/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * File systems that are not mounted, as libblkid knows them: which device a UUID
 * or a label means, and which other devices have the same UUID.  A label that two
 * file systems have means neither.  Opens nothing.
 */
#include <blkid.h>
#include <string.h>
#include <unistd.h>

#include "offline/offline.h"

/* Calls `fn` with each device of a btrfs that has this tag, until it returns other than 0. */
static int walk(blkid_cache cache, const char *tag, const char *value,
		int (*fn)(void *user, const char *path, const char *uuid), void *user)
{
	blkid_dev_iterate iter = blkid_dev_iterate_begin(cache);
	blkid_dev dev;
	int ret = 0;

	if (!iter)
		return -ENOMEM;
	if (blkid_dev_set_search(iter, tag, value) < 0)
		ret = -EINVAL;
	while (!ret && blkid_dev_next(iter, &dev) == 0) {
		_cleanup_free_ char *uuid = NULL;

		dev = blkid_verify(cache, dev);
		if (!dev || !blkid_dev_has_tag(dev, "TYPE", "btrfs"))
			continue;
		uuid = blkid_get_tag_value(cache, "UUID", blkid_dev_devname(dev));
		ret = uuid ? fn(user, blkid_dev_devname(dev), uuid) : 0;
	}
	blkid_dev_iterate_end(iter);
	return ret;
}

int bp_offline_named(const char *tag, const char *value,
		     int (*fn)(void *user, const char *path, const char *uuid), void *user)
{
	blkid_cache cache;
	int ret;

	/* No cache of an earlier day: it is the devices of now that count. */
	if (blkid_get_cache(&cache, "/dev/null") < 0)
		return -ENOMEM;
	ret = blkid_probe_all(cache) == 0 ? walk(cache, tag, value, fn, user) : 0;
	blkid_put_cache(cache);
	return ret;
}

/* ---- What a word means --------------------------------------------------- */

struct candidates {
	char *path;	/* of the first device of the first one */
	char *text;	/* all of them: "UUID (DEVICE), UUID (DEVICE)" */
	size_t count;	/* of file systems */
};

static int add_candidate(void *user, const char *path, const char *uuid)
{
	struct candidates *all = user;
	char *text;

	if (all->text && strstr(all->text, uuid))
		return 0;
	text = bp_format("%s%s%s (%s)", all->text ? all->text : "", all->text ? ", " : "", uuid,
			 path);
	free(all->text);
	all->text = text;
	all->count++;
	if (!all->path)
		all->path = strdup(path);
	return text && all->path ? 0 : -ENOMEM;
}

/* NULL in `path` if nothing has this tag. */
static int find(struct bp_offline *off, const char *tag, const char *value, char **path)
{
	struct candidates all = {};
	int ret = bp_offline_named(tag, value, add_candidate, &all);

	if (!ret && all.count > 1)
		ret = bp_wrong(off, "%zu file systems have this label: %s; name one by its UUID",
			       all.count, all.text);
	*path = ret ? NULL : bp_steal(all.path);
	free(all.path);
	free(all.text);
	return ret;
}

/* A word that is no path: a UUID or a label, with or without its tag. */
int bp_offline_path(struct bp_offline *off, const char *word, char **path)
{
	static const char *const tags[] = { "UUID", "LABEL" };
	int ret = 0;

	*path = NULL;
	if (access(word, F_OK) == 0 || strchr(word, '/'))
		return (*path = strdup(word)) ? 0 : -ENOMEM;
	for (size_t i = 0; !ret && !*path && i < BP_ARRAY_SIZE(tags); i++) {
		size_t length = strlen(tags[i]);
		bool tagged = !strncmp(word, tags[i], length) && word[length] == '=';

		ret = find(off, tags[i], tagged ? word + length + 1 : word, path);
	}
	if (!ret && !*path && strchr(word, '='))
		*path = blkid_evaluate_spec(word, NULL);
	if (!ret && !*path)
		*path = strdup(word);
	return ret || *path ? ret : -ENOMEM;
}
