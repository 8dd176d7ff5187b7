/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sysfs of the made-up machine as it was recorded on a real one: tests/data/sysfs
 * has a line "NAME<tab>TEXT" for each file.  Roles of devices are not kept here.
 */
#include <stdio.h>
#include <string.h>

#include "fake.h"

static struct fake_entry *add_entry(struct fake *fake)
{
	fake->tree = reallocarray(fake->tree, fake->tree_count + 1, sizeof(*fake->tree));
	return fake->tree ? &fake->tree[fake->tree_count++] : NULL;
}

/* -ENOENT if there is no such recording. */
int fake_load_tree(struct fake *fake, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[1024];

	if (!file)
		return -ENOENT;
	while (fgets(line, sizeof(line), file)) {
		char *tab = strchr(line, '\t');
		struct fake_entry *entry = *line != '#' && tab ? add_entry(fake) : NULL;

		if (!entry)
			continue;
		line[strcspn(line, "\n")] = '\0';
		*tab = '\0';
		entry->name = strdup(line);
		snprintf(entry->text, sizeof(entry->text), "%s", tab + 1);
	}
	fclose(file);
	return 0;
}

/* A folder is there if a file in it is. */
int fake_recorded_exists(const struct fake *fake, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < fake->tree_count; i++) {
		const char *other = fake->tree[i].name;

		if (!strncmp(other, name, length) && (!other[length] || other[length] == '/'))
			return 1;
	}
	return 0;
}

static struct fake_entry *find(const struct fake *fake, const char *name)
{
	for (size_t i = 0; i < fake->tree_count; i++)
		if (!strcmp(fake->tree[i].name, name))
			return &fake->tree[i];
	return NULL;
}

int fake_recorded_read(const struct fake *fake, const char *name, char *buf, size_t size)
{
	const struct fake_entry *entry = find(fake, name);

	if (!entry)
		return -ENOENT;
	snprintf(buf, size, "%s", entry->text);
	return 0;
}

/* The read policy has two files on some kernels, which say the same. */
int fake_recorded_write(struct fake *fake, const char *name, const char *text)
{
	struct fake_entry *entry = find(fake, name);
	struct fake_entry *other = find(fake, FAKE_FSID "/read_policy");
	int ret;

	if (!entry)
		return -ENOENT;
	ret = fake_store(entry->text, sizeof(entry->text), text);
	if (!ret && other && !strcmp(name, FAKE_FSID "/read_policies/policy"))
		strcpy(other->text, entry->text);
	return ret;
}
