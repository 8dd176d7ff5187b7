/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * example PATH, or example --offline IMAGE...: prints the metadata on each device
 * and the role of the device.  Shows the structure of programs that use
 * libbtrfs-policy: a handle, one call, the error text if it fails.
 */
#include <btrfs-policy.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_devices(const struct btrfs_policy_fs *fs,
			  const struct btrfs_policy_placement *placement)
{
	const struct btrfs_policy_device_usage *row;

	for (size_t i = 0; (row = btrfs_policy_placement_device(placement, i)); i++) {
		const struct btrfs_policy_device *device = btrfs_policy_device_find(fs, row->devid);

		printf("%" PRIu64 " %s %s metadata=%" PRIu64 "\n", row->devid,
		       device->path ? device->path : "missing", btrfs_policy_role_name(row->role),
		       row->bytes[BTRFS_POLICY_KIND_METADATA]);
	}
}

static int show(struct btrfs_policy_fs *fs, int count, char **words)
{
	struct btrfs_policy_placement *placement = NULL;
	int ret;

	if (count > 1 && strcmp(words[0], "--offline") == 0)
		ret = btrfs_policy_fs_open_offline(fs, words + 1, count - 1);
	else
		ret = btrfs_policy_fs_open(fs, words[0]);
	if (ret == 0)
		ret = btrfs_policy_placement_read(fs, &placement);
	if (ret)
		return ret;
	print_devices(fs, placement);
	btrfs_policy_placement_free(placement);
	return 0;
}

int main(int argc, char **argv)
{
	struct btrfs_policy_fs *fs = btrfs_policy_fs_new();
	int ret;

	if (!fs)
		return 1;
	ret = show(fs, argc - 1, argv + 1);	/* without a path: where we are */
	if (ret)
		fprintf(stderr, "%s\n", btrfs_policy_fs_error(fs));
	btrfs_policy_fs_unref(fs);
	return ret ? 1 : 0;
}
