/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of devices in text.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmds/handles.h"
#include "cmds/devices.h"
#include "cmds/cli/messages.h"
#include "cmds/cli/escape.h"

const char *device_type(const struct btrfs_policy_device *device)
{
	if (device->missing)
		return "missing";
	if (device->rotational == BTRFS_POLICY_UNKNOWN)
		return NULL;
	return device->rotational == BTRFS_POLICY_YES ? "hdd" : "ssd";
}

void record_set_tristate(struct cell *record, int column, enum btrfs_policy_tristate value)
{
	if (value != BTRFS_POLICY_UNKNOWN)
		record_set_bool(record, column, value == BTRFS_POLICY_YES);
}

char *device_name(uint64_t devid, const char *path)
{
	return xasprintf("%" PRIu64 " (%s)", devid, path ? path : "missing");
}

void device_print_heading(uint64_t devid, const char *path)
{
	_cleanup_free_ char *shown = xcheck(escape_text(path));

	printf("\n%s, ID: %" PRIu64 "\n", shown, devid);
}

int devices_select(struct btrfs_policy_fs *fs, char *const *words, int word_count,
		   uint64_t **devids, size_t *count)
{
	for (int i = 0; i < word_count; i++) {
		_cleanup_free_ uint64_t *found = NULL;
		size_t found_count;
		int ret = btrfs_policy_device_select(fs, words[i], &found, &found_count);

		if (ret)
			return ret;
		*devids = xrealloc(*devids, *count + found_count, sizeof(**devids));
		/* A device may be meant by more than one word. */
		for (size_t j = 0; j < found_count; j++) {
			size_t k = 0;

			while (k < *count && (*devids)[k] != found[j])
				k++;
			if (k == *count)
				(*devids)[(*count)++] = found[j];
		}
	}
	return 0;
}

int no_role(const char *word)
{
	_cleanup_free_ char *names = xstrdup("");

	for (int role = 0; role <= BTRFS_POLICY_ROLE_METADATA_ONLY; role++) {
		char *longer = xasprintf("%s%s %s", names, role ? "," : "",
					 btrfs_policy_role_name(role));

		free(names);
		names = longer;
	}
	error("there is no role '%s'; roles are:%s", word, names);
	return STATUS_FAILURE;
}
