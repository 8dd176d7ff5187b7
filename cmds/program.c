/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program: its groups, the options before the words, and the way
 * from main() to a command.
 */
#include <stdio.h>
#include <string.h>

#include "cmds/handles.h"
#include "cmds/cli/dispatch.h"
#include "cmds/cli/help.h"
#include "cmds/cli/records.h"
#include "cmds/program.h"

const struct option_row program_options[] = {
	{ .kind = OPTION_FLAG, .letter = 'h', .offset = offsetof(struct globals, help),
	  .help = "print this help, as --help and 'help' do" },
	{ .kind = OPTION_FLAG, .letter = 'V', .name = "version",
	  .offset = offsetof(struct globals, version), .help = "print version string" },
	{ .kind = OPTION_FLAG, .name = "dump-commands",
	  .offset = offsetof(struct globals, dump) },
	{ .kind = OPTION_FLAG, .name = "complete",
	  .offset = offsetof(struct globals, complete) },
	OPTIONS_END
};

static const struct entry policy_entries[] = {
	{ .command = &device_policy_list_command },
	{ .command = &device_policy_show_command },
	{ .command = &device_policy_get_command },
	{ .command = &device_policy_set_command },
	{ .command = &device_policy_tag_command },
	{ .command = &device_policy_suggest_command },
	{ .command = &device_policy_add_command },
	{ .command = &device_policy_drain_command },
	{ .command = &device_policy_usage_command },
	{ .command = &device_policy_save_command },
	{ .command = &device_policy_restore_command },
	{}
};

static const struct group policy_group = {
	"policy", "manage device roles and read policies, show where data and metadata are",
	policy_entries,
	"\nTo move metadata from disks to SSDs: 'usage' shows where it is, 'suggest'\n"
	"proposes roles, 'tag' sets them, 'btrfs balance --preferred-metadata' moves\n"
	"existing chunks, 'usage -c' checks the result. btrfs-device-policy(8) lists\n"
	"the commands, and how to undo them.\n"
};

static const struct entry device_entries[] = { { .group = &policy_group }, {} };
static const struct group device_group = {
	"device", "the part of 'btrfs device' that btrfs-policy provides", device_entries, ""
};

static const struct entry balance_entries[] = {
	{ .command = &balance_preferred_command },
	{ .command = &balance_start_command },
	{}
};

static const struct group balance_group = {
	"balance", "move misplaced chunks to the devices where they should be", balance_entries, ""
};

static const struct entry program_entries[] = {
	{ .group = &device_group },
	{ .group = &balance_group },
	{ .command = &device_policy_list_command, .shortcut = true },
	{ .command = &device_policy_show_command, .shortcut = true },
	{ .command = &device_policy_get_command, .shortcut = true },
	{ .command = &device_policy_set_command, .shortcut = true },
	{ .command = &device_policy_tag_command, .shortcut = true },
	{ .command = &device_policy_suggest_command, .shortcut = true },
	{ .command = &device_policy_add_command, .shortcut = true },
	{ .command = &device_policy_drain_command, .shortcut = true },
	{ .command = &device_policy_usage_command, .shortcut = true },
	{ .command = &device_policy_save_command, .shortcut = true },
	{ .command = &device_policy_restore_command, .shortcut = true },
	{}
};

const struct group program_group = {
	NULL, "The words 'device policy' may be left out after 'btrfs-policy'.", program_entries, ""
};

static void print_help(const char *name)
{
	printf("usage: %s [global] <group> [<group>...] <command> [<args>]\n\n", name);
	printf("Global options:\n");
	help_options(stdout, global_options);
	printf("\nOptions for the main command only:\n");
	help_options(stdout, program_options);
	putchar('\n');
	help_listing(stdout, name, &program_group, false);
	printf("Use --help behind a group or command for information on it.\n");
}

/* `help <words>` is `<words> --help`. */
static int run_help(const char *name, struct globals *globals, int count, char **words)
{
	_cleanup_free_ char **all = xcalloc(count + 2, sizeof(*all));

	if (!count) {
		print_help(name);
		return STATUS_OK;
	}
	memcpy(all, words, count * sizeof(*all));
	all[count] = (char *)"--help";
	return dispatch(name, &program_group, globals, count + 1, all);
}

static int run_words(const char *name, struct globals *globals, int count, char **words)
{
	if (globals->dump) {
		dump_commands();
		return STATUS_OK;
	}
	if (globals->complete)
		return complete(count, words);
	if (globals->help)
		return run_help(name, globals, 0, NULL);
	if (globals->version) {
		printf("%s\n", PACKAGE_STRING);
		return STATUS_OK;
	}
	if (count && strcmp(words[0], "help") == 0)
		return run_help(name, globals, count - 1, words + 1);
	if (count || globals->format == FORMAT_JSON)
		return dispatch(name, &program_group, globals, count, words);
	print_help(name);
	return STATUS_FAILURE;
}

static int run(const char *name, struct globals *globals, int argc, char **argv)
{
	const struct option_set sets[] = {
		{ global_options, globals }, { program_options, globals }, { NULL, NULL }
	};
	int first, status = options_parse(name, sets, true, argc, argv, &first);

	return status ? status : run_words(name, globals, argc - first, argv + first);
}

/* An invalid option may precede the one that selects JSON. */
static bool asks_for_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (strcmp(argv[i], "--format=json") == 0 ||
		    (strcmp(argv[i], "--format") == 0 && i + 1 < argc &&
		     strcmp(argv[i + 1], "json") == 0))
			return true;
	return false;
}

int program_run(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	const char *called = slash ? slash + 1 : argc ? argv[0] : "";
	/* The front leaves argv as it is, so help can name the command as typed. */
	const char *name = strcmp(called, "btrfs") == 0 ? "btrfs" : "btrfs-policy";
	struct globals globals = { .level = LEVEL_DEFAULT };
	/* Before the options are parsed, which moves words in argv. */
	bool json = asks_for_json(argc, argv);
	int status = run(name, &globals, argc, argv);

	if (status && json && messages_last_error() && !json_was_printed())
		json_print_error(status, messages_last_error());
	return messages_finish(status);
}
