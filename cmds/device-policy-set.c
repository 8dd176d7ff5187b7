/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `btrfs device policy set`: the read policy of a file system and its
 * settings.  All values are set, or none.
 */
#include "cmds/commands.h"
#include "cmds/changes.h"
#include "cmds/handles.h"
#include "cmds/filesystem.h"

struct set_args {
	const char *rot_penalty;
	const char *nonrot_penalty;
	const char *mixed_only;
	const char *readahead;
	const char *lagging;
	bool save;
	bool force;
};

/* The name of each option with an argument is the name of the setting. */
static const struct option_row set_options[] = {
	{ .kind = OPTION_TEXT, .name = "rot-penalty", .argument = "N",
	  .offset = offsetof(struct set_args, rot_penalty),
	  .help = "set the penalty of a non-local read on a rotational device, 0..1000" },
	{ .kind = OPTION_TEXT, .name = "nonrot-penalty", .argument = "N",
	  .offset = offsetof(struct set_args, nonrot_penalty),
	  .help = "set the same for non-rotational devices" },
	{ .kind = OPTION_TEXT, .name = "penalty-mixed-only", .argument = "yes|no",
	  .offset = offsetof(struct set_args, mixed_only),
	  .help = "apply penalties only if rotational and other devices are mixed" },
	{ .kind = OPTION_TEXT, .name = "readahead", .argument = "SIZE",
	  .offset = offsetof(struct set_args, readahead),
	  .help = "set the readahead, in bytes or with the suffix K, M or G" },
	{ .kind = OPTION_TEXT, .name = "lagging-superblocks", .argument = "yes|no",
	  .offset = offsetof(struct set_args, lagging),
	  .help = "leave devices without metadata out of commits" },
	{ .kind = OPTION_FLAG, .name = "save", .offset = offsetof(struct set_args, save),
	  .help = "also save the settings for the next mounts" },
	{ .kind = OPTION_FLAG, .name = "force", .offset = offsetof(struct set_args, force),
	  .help = "let superblocks lag even if /boot is on the file system" },
	OPTIONS_END
};

static struct btrfs_policy_request *build_request(const struct run *run)
{
	struct btrfs_policy_request *request = xcheck(btrfs_policy_request_new());
	int ret = btrfs_policy_request_add(request, "read-policy", 0, run->words[0]);

	for (const struct option_row *row = set_options; row->kind; row++) {
		const char *const *value =
			(const void *)((const char *)run->args + row->offset);

		if (option_has_argument(row) && *value)
			ret |= btrfs_policy_request_add(request, row->name, 0, *value);
	}
	if (ret) {
		btrfs_policy_request_free(request);
		request = NULL;
	}
	return xcheck(request);
}

static int cmd_device_policy_set(const struct run *run)
{
	_cleanup_(request) struct btrfs_policy_request *request = build_request(run);
	const struct set_args *args = run->args;
	_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
	int status = filesystem_open(run->words[1], &fs);

	if (status)
		return status;
	return changes_apply(run, fs, request,
			     (args->save ? BTRFS_POLICY_SAVE : 0) |
			     (args->force ? BTRFS_POLICY_FORCE : 0), "device-policy-set");
}

static const char *const set_details[] = {
	"Set how reads of mirrored chunks (RAID1, RAID1C3, RAID1C4, RAID10) spread",
	"over their devices: 'roundrobin' (needs a kernel that has it), 'pid', or",
	"another policy that the kernel offers; by options also penalties, readahead",
	"and lagging superblocks. Settings last until the file system is unmounted,",
	"with --save longer: they are restored at the next mounts. Prints one line",
	"for each change, with the value read back from the kernel. Several changes",
	"are made all or none.",
	NULL
};

const struct command device_policy_set_command = {
	.token = "set",
	.synopsis = "[options] <read-policy> [<path>]",
	.summary = "Set the read policy and its penalties",
	.details = set_details,
	.options = set_options,
	.args_size = sizeof(struct set_args),
	.min_words = 1,
	.max_words = 2,
	.run = cmd_device_policy_set,
};
