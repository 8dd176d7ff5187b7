/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * File systems that are not mounted, from libblkid: the device with a UUID or a
 * label, and the other devices with the same UUID.  A label that two file systems
 * have matches neither.  Opens no device.
 */
#include <blkid.h>
#include <string.h>
#include <unistd.h>

#include "offline/offline.h"

/* Adds a copy of `text` to a list that ends with NULL. */
static int append(char ***list, const char *text)
{
	size_t count = 0;
	char **longer;

	while (*list && (*list)[count])
		count++;
	longer = reallocarray(*list, count + 2, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	*list = longer;
	longer[count] = strdup(text);
	longer[count + 1] = NULL;
	return longer[count] ? 0 : -ENOMEM;
}

static int walk(blkid_cache cache, const char *tag, const char *value, char ***paths,
		char ***uuids)
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
		if (!uuid)
			continue;
		ret = append(paths, blkid_dev_devname(dev));
		if (!ret && uuids)
			ret = append(uuids, uuid);
	}
	blkid_dev_iterate_end(iter);
	return ret;
}

int bp_offline_named(const char *tag, const char *value, char ***paths, char ***uuids)
{
	blkid_cache cache;
	int ret;

	/* No cache of an earlier day: it is the devices of now that count. */
	if (blkid_get_cache(&cache, "/dev/null") < 0)
		return -ENOMEM;
	ret = blkid_probe_all(cache) == 0 ? walk(cache, tag, value, paths, uuids) : 0;
	blkid_put_cache(cache);
	return ret;
}

/* ---- Resolving a word ---------------------------------------------------- */

/* The path of the first device that has this tag; -EUCLEAN if file systems share it. */
static int find(struct bp_offline *off, const char *tag, const char *value, char **path)
{
	char **paths = NULL, **uuids = NULL;
	_cleanup_free_ char *text = NULL;	/* "UUID (DEVICE), UUID (DEVICE)" */
	size_t count = 0;
	int ret = bp_offline_named(tag, value, &paths, &uuids);

	for (size_t i = 0; !ret && uuids && uuids[i]; i++) {
		char *before = text;

		if (before && strstr(before, uuids[i]))
			continue;
		text = bp_format("%s%s%s (%s)", before ? before : "", before ? ", " : "",
				 uuids[i], paths[i]);
		free(before);
		ret = text ? 0 : -ENOMEM;
		count++;
	}
	if (!ret && count > 1)
		ret = bp_wrong(off, "%zu file systems have this label: %s; name one by its UUID",
			       count, text);
	if (!ret && count && !(*path = strdup(paths[0])))
		ret = -ENOMEM;
	btrfs_policy_strv_free(paths);
	btrfs_policy_strv_free(uuids);
	return ret;
}

/* A word that is no path: a UUID or a label, with or without its tag. */
int bp_offline_path(struct bp_offline *off, const char *word, char **path)
{
	static const char *const tags[] = { "UUID", "LABEL" };
	int ret = 0;

	*path = NULL;
	/* A label may have a slash: "LABEL=a/b" is no path, "a/b" and "a/b=c" are. */
	if (access(word, F_OK) == 0 || word[strcspn(word, "/=")] == '/')
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
