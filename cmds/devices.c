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
