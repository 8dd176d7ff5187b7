/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `btrfs balance --preferred-metadata`, also as `btrfs balance start
 * --preferred-metadata`: moves misplaced chunks to the devices where they should be.
 * The library plans and moves; this file starts it, and shows progress and result.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmds/balance-plan.h"
#include "cmds/balance-run.h"
#include "cmds/commands.h"
#include "cmds/handles.h"
#include "cmds/filesystem.h"
#include "cmds/progress.h"

struct balance_args {
	bool preferred;
	uint64_t limit;
	bool enqueue;
	bool background;
	bool unenforced;
	bool offline;
	int progress;
	int method;
	const char *assume;
};

enum { REPORT_END, REPORT_CHUNKS, REPORT_MISPLACED, REPORT_RELOCATED, REPORT_USED, REPORT_LEFT,
	REPORT_IN_VAIN, REPORT_MILLISECONDS, REPORT_TEXT, REPORT_STRIPES, REPORT_COPIED,
	REPORT_COLUMNS };

static const struct column report_columns[] = {
	[REPORT_END] = { "end", NULL, 0 },
	[REPORT_CHUNKS] = { "chunks", NULL, 0 },
	[REPORT_MISPLACED] = { "misplaced-chunks", NULL, 0 },
	[REPORT_RELOCATED] = { "relocated-chunks", NULL, 0 },
	[REPORT_USED] = { "relocated-used", NULL, 0 },
	[REPORT_LEFT] = { "still-misplaced-chunks", NULL, 0 },
	[REPORT_IN_VAIN] = { "moved-in-vain-chunks", NULL, 0 },
	[REPORT_MILLISECONDS] = { "elapsed-milliseconds", NULL, 0 },
	[REPORT_TEXT] = { "text", NULL, 0 },
	[REPORT_STRIPES] = { "by-stripes-chunks", NULL, 0 },
	[REPORT_COPIED] = { "copied-bytes", NULL, 0 },
};

static const char *const end_names[] = {
	[BTRFS_POLICY_END_DONE] = "done",
	[BTRFS_POLICY_END_LIMIT] = "limit",
	[BTRFS_POLICY_END_NO_SPACE] = "no-space",
	[BTRFS_POLICY_END_CANCELED] = "canceled",
	[BTRFS_POLICY_END_PAUSED] = "paused",
	[BTRFS_POLICY_END_STOPPED] = "stopped",
	[BTRFS_POLICY_END_FAILED] = "failed",
};

static volatile sig_atomic_t interrupted;

/* In the order of enum btrfs_policy_method. */
static const char *const methods[] = { "auto", "stripes", "relocate", NULL };

/* For a script that started it in the background, ^C must not stop it. */
static void on_interrupt(void (*handler)(int))
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = handler };
	struct sigaction old;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
}

/* The next one, whichever it is, ends the program. */
static void interrupt(int number)
{
	interrupted = number;
	on_interrupt(SIG_DFL);
}

static int show_progress(const struct btrfs_policy_progress *state, void *user)
{
	progress_show(user, state);
	return interrupted;
}

json_object *balance_report_json(const struct btrfs_policy_balance_report *report)
{
	_cleanup_(records) struct records *records = records_new(report_columns, REPORT_COLUMNS);
	struct cell *record = records_add(records);

	record_set_text(record, REPORT_END, end_names[report->end]);
	record_set_number(record, REPORT_CHUNKS, report->considered);
	record_set_number(record, REPORT_MISPLACED, report->misplaced);
	record_set_number(record, REPORT_RELOCATED, report->relocated);
	record_set_size(record, REPORT_USED, report->relocated_used);
	record_set_number(record, REPORT_LEFT, report->still_misplaced);
	record_set_number(record, REPORT_IN_VAIN, report->moved_in_vain);
	record_set_number(record, REPORT_MILLISECONDS, report->elapsed_ns / 1000000);
	if (*report->text)
		record_set_text(record, REPORT_TEXT, report->text);
	record_set_number(record, REPORT_STRIPES, report->by_stripes);
	record_set_size(record, REPORT_COPIED, report->copied);
	return records_json_object(records, 0);
}

static void print_json(const struct btrfs_policy_fs *fs,
		       const struct btrfs_policy_balance_report *report)
{
	json_object *object = filesystem_json(fs);

	json_object_object_add(object, "enforced",
			       json_object_new_boolean(btrfs_policy_enforced(fs, NULL)));
	json_object_object_add(object, "dry-run", json_object_new_boolean(false));
	json_object_object_add(object, "report", balance_report_json(report));
	json_print_document("balance-preferred-metadata", object);
}

/* "Done" is the sentence that 'btrfs balance' ends with. */
void balance_print_report(const struct btrfs_policy_balance_report *report, int ret)
{
	_cleanup_free_ char *stripes = report->by_stripes ?
		xasprintf(", %" PRIu64 " by stripes", report->by_stripes) : xstrdup("");
	char left[UNITS_TEXT];

	if (ret && report->relocated)
		say(LEVEL_DEFAULT, "Ended early, relocated %" PRIu64 " of %s%s", report->relocated,
		    units_count(report->misplaced, "misplaced chunk", left), stripes);
	if (ret)
		return;
	say(LEVEL_DEFAULT, "Done, had to relocate %" PRIu64 " out of %" PRIu64 " chunks%s",
	    report->relocated, report->considered, stripes);
	if (report->end == BTRFS_POLICY_END_LIMIT)
		say(LEVEL_DEFAULT, "The limit is reached, %s left over",
		    units_count(report->still_misplaced, "misplaced chunk", left));
	else if (*report->text)
		warning("%s", report->text);
}

static struct btrfs_policy_balance_options library_options(const struct balance_args *args)
{
	return (struct btrfs_policy_balance_options){
		.size = sizeof(struct btrfs_policy_balance_options),
		.limit = args->limit,
		.enqueue = args->enqueue,
		.unenforced = args->unenforced,
		.method = args->method,
	};
}

int balance_end_status(const struct btrfs_policy_balance_report *report, int ret)
{
	switch (report ? report->end : BTRFS_POLICY_END_FAILED) {
	case BTRFS_POLICY_END_NO_SPACE:
		return STATUS_NO_SPACE;
	case BTRFS_POLICY_END_PAUSED:
		return STATUS_PAUSED;
	case BTRFS_POLICY_END_CANCELED:
		return STATUS_CANCELED;
	case BTRFS_POLICY_END_STOPPED:
		return STATUS_STOPPED;
	default:
		return filesystem_status(ret);
	}
}

int balance_run(struct btrfs_policy_fs *fs, struct btrfs_policy_balance_options options, int mode,
		struct btrfs_policy_balance_report **report)
{
	struct progress progress;
	int ret;

	options.progress = show_progress;
	options.user = &progress;
	progress_begin(&progress, mode);
	/*
	 * The first signal ends the balance after the chunk that is being relocated, or at once
	 * if its stripes are being moved.  A second one ends it at once, but not while the kernel
	 * relocates a chunk: only SIGKILL does.  SIGHUP comes when the terminal goes away.
	 */
	on_interrupt(interrupt);
	ret = btrfs_policy_balance(fs, &options, report);
	progress_end(&progress);
	return ret;
}

/* In the background JSON has no reader; text goes to the system log. */
static int run_balance(const struct run *run, struct btrfs_policy_fs *fs, bool json)
{
	_cleanup_(report) struct btrfs_policy_balance_report *report = NULL;
	const struct balance_args *args = run->args;
	int ret = balance_run(fs, library_options(args), args->progress, &report);

	if (report && json)
		print_json(fs, report);
	else if (report)
		balance_print_report(report, ret);
	if (ret)
		filesystem_failed(fs, ret);
	return balance_end_status(report, ret);
}

/* A kernel that ignores roles moves chunks too, only not where they should be. */
static int check_enforced(const struct run *run, const struct btrfs_policy_fs *fs)
{
	const struct btrfs_policy_capability *row =
		btrfs_policy_capability_find(fs, "roles-enforced");
	const struct balance_args *args = run->args;
	const char *why;

	if (btrfs_policy_enforced(fs, &why) || btrfs_policy_fs_info(fs)->mixed)
		return STATUS_OK;
	if (args->unenforced) {
		warning("placement cannot be steered: %s; the kernel places chunks on the devices with most free space, possibly the same ones",
			why);
		return STATUS_OK;
	}
	error("cannot steer chunks on '%s': %s; %s. Use --unenforced to move misplaced chunks anyway: the kernel places them on the devices with most free space",
	      btrfs_policy_fs_info(fs)->mount_point, why,
	      row->available ? "mount it without that option" : row->advice);
	return STATUS_STATE;
}

static int run_detached(const struct run *run, struct btrfs_policy_fs *fs)
{
	_cleanup_free_ char *prefix = xasprintf("balance of '%s'",
						btrfs_policy_fs_info(fs)->mount_point);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	if (chdir("/"))
		_exit(STATUS_FAILURE);
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	messages_set_level(LEVEL_DEFAULT);
	messages_to_journal(prefix);
	return run_balance(run, fs, false);
}

static int run_in_background(const struct run *run, struct btrfs_policy_fs *fs)
{
	const struct btrfs_policy_balance_options options = library_options(run->args);
	int ret = btrfs_policy_balance_check(fs, &options);
	json_object *object;
	pid_t pid;

	/* Immediate errors are reported before detaching. */
	if (ret)
		return filesystem_failed(fs, ret);
	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		error("cannot start a process in the background: %s", strerror(errno));
		return STATUS_FAILURE;
	}
	if (pid == 0)
		return run_detached(run, fs);
	if (!run->json) {
		say(LEVEL_DEFAULT, "balance started in the background, process %d", (int)pid);
		return STATUS_OK;
	}
	object = filesystem_json(fs);
	json_object_object_add(object, "background-process", json_object_new_int(pid));
	json_print_document("balance-preferred-metadata", object);
	return STATUS_OK;
}

/* Refuses options of plans before the file system is opened. */
static int check_words(const struct run *run)
{
	const struct balance_args *args = run->args;

	if (!run->dry_run && args->assume)
		error("--assume shows a plan for assumed roles or devices: use it with --dry-run");
	else if (!run->dry_run && args->offline)
		error("cannot balance a file system that is not mounted: use --offline with --dry-run");
	else if (run->count > 1 && !args->offline)
		error("more than one path given; only --offline takes several, all of one file system");
	else
		return STATUS_OK;
	return STATUS_FAILURE;
}

static int balance(const struct run *run)
{
	_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
	const struct balance_args *args = run->args;
	const struct btrfs_policy_balance_options options = library_options(args);
	int status = check_words(run);

	if (!status)
		status = args->offline ?
			 filesystem_open_offline(run->words, run->count, &fs) :
			 filesystem_open(run->words[0], &fs);
	if (status)
		return status;
	if (run->dry_run)
		return balance_show_plan(run, fs, "balance-preferred-metadata", &options, args->assume);
	status = check_enforced(run, fs);
	if (status)
		return status;
	return args->background ? run_in_background(run, fs) :
				  run_balance(run, fs, run->json);
}

static int cmd_balance_start(const struct run *run)
{
	const struct balance_args *args = run->args;

	if (args->preferred)
		return balance(run);
	error("balance start without --preferred-metadata belongs to btrfs (package btrfs-progs)");
	return STATUS_FAILURE;
}

#define BALANCE_ROWS								\
	{ .kind = OPTION_NUMBER, .name = "limit", .argument = "N",		\
	  .offset = offsetof(struct balance_args, limit),			\
	  .help = "move at most N chunks" },					\
	{ .kind = OPTION_CHOICE, .name = "method", .argument = "METHOD",	\
	  .offset = offsetof(struct balance_args, method),			\
	  .choices = methods,							\
	  .help = "auto (move stripes where possible, the default), stripes (or "\
		  "fail), relocate" },						\
	{ .kind = OPTION_FLAG, .name = "enqueue",				\
	  .offset = offsetof(struct balance_args, enqueue),			\
	  .help = "wait if there's another exclusive operation running" },	\
	{ .kind = OPTION_FLAG, .name = "background", .alias = "bg",		\
	  .offset = offsetof(struct balance_args, background),			\
	  .help = "run the balance in the background and report the result in "	\
		  "the system log" },						\
	{ .kind = OPTION_FLAG, .name = "unenforced",				\
	  .offset = offsetof(struct balance_args, unenforced),			\
	  .help = "run even if the kernel ignores roles and chunks go anywhere" },\
	{ .kind = OPTION_FLAG, .name = "offline",				\
	  .offset = offsetof(struct balance_args, offline),			\
	  .help = "with --dry-run: plan for a file system that is not "	\
		  "mounted, from its devices or images" },			\
	{ .kind = OPTION_TEXT, .name = "assume", .argument = "WHAT",		\
	  .offset = offsetof(struct balance_args, assume),			\
	  .help = "with --dry-run: plan as if roles or devices were different, "	\
		  "as in 'device policy usage --assume'" },			\
	{ .kind = OPTION_CHOICE, .name = "progress", .argument = "MODE",	\
	  .offset = offsetof(struct balance_args, progress),			\
	  .choices = progress_modes,						\
	  .help = "report on stderr: auto (on a terminal, the default), line (every "	\
		  "10 seconds), json, none" }

static const struct option_row preferred_options[] = { BALANCE_ROWS, OPTIONS_END };

static const struct option_row start_options[] = {
	{ .kind = OPTION_FLAG, .name = "preferred-metadata",
	  .offset = offsetof(struct balance_args, preferred),
	  .help = "move misplaced chunks only" },
	BALANCE_ROWS,
	OPTIONS_END
};

static const char *const balance_details[] = {
	"Move chunks that are on devices whose role excludes them, or on",
	"second-choice devices while first-choice devices could hold them: metadata",
	"as soon as there is space for it, data that is in its way before that, then",
	"system, then the rest of the data. Where the kernel can, only the misplaced",
	"stripes of a chunk are copied, else it is relocated. Chunks are moved one by",
	"one, so 'btrfs balance status', 'pause' and 'cancel' work on a relocation,",
	"and an interrupted run can be started again. --dry-run shows the plan.",
	NULL
};

const struct command balance_preferred_command = {
	.token = "--preferred-metadata",
	.least = 3,
	.synopsis = "[options] [<path>]",
	.summary = "Move misplaced chunks to the devices where they should be",
	.details = balance_details,
	.options = preferred_options,
	.args_size = sizeof(struct balance_args),
	.max_words = ANY_NUMBER,
	.run = balance,
};

const struct command balance_start_command = {
	.token = "start",
	.synopsis = "--preferred-metadata [options] [<path>]",
	.summary = "The same, as an option of 'balance start'",
	.details = balance_details,
	.options = start_options,
	.args_size = sizeof(struct balance_args),
	.max_words = ANY_NUMBER,
	.run = cmd_balance_start,
};
