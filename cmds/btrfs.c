/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The front: hands our few words to btrfs-policy and everything else to the
 * distribution's btrfs, by exec, with argv as it came.  It forks only to add
 * our lines to a help listing.  It must stay small, link nothing but libc, and
 * never give a word that btrfs knows another meaning.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define NOT_FOUND 127
#define PREFERRED "--preferred-metadata"	/* ours from "--p" on */

/* Fronts that this call went through, as ";dev:ino;": two in PATH must not hand to each other. */
#define SEEN "BTRFS_POLICY_FRONTS"

static const char device_lines[] =
	"    btrfs device policy <command> [<args>]\n"
	"        Manage device roles and read policies, show where data and metadata are\n";
static const char balance_lines[] =
	"    btrfs balance --preferred-metadata [options] [<path>]\n"
	"        Move misplaced chunks to the devices where they should be\n";

enum action { HAND_ON, OURS, LIST_ALL, LIST_DEVICE, LIST_BALANCE };

static bool is_prefix(const char *word, const char *of, size_t least)
{
	size_t len = strlen(word);

	return len >= least && strncmp(word, of, len) == 0;
}

static enum action classify_tokens(char **tokens)
{
	const char *second = tokens[1] ? tokens[1] : "--help";

	if (is_prefix(tokens[0], "device", 1)) {
		if (strcmp(second, "--help") == 0)
			return LIST_DEVICE;
		return is_prefix(second, "policy", 1) ? OURS : HAND_ON;
	}
	if (is_prefix(tokens[0], "balance", 1)) {
		if (strcmp(second, "--help") == 0)
			return LIST_BALANCE;
		if (is_prefix(second, "start", 4))	/* "sta" could be status */
			for (tokens += 2; *tokens && strcmp(*tokens, "--"); tokens++)
				if (is_prefix(*tokens, PREFERRED, 3))
					return OURS;
		return is_prefix(second, PREFERRED, 3) ? OURS : HAND_ON;
	}
	if (strcmp(tokens[0], "help") == 0 && (!tokens[1] || strcmp(second, "--full") == 0))
		return LIST_ALL;
	return HAND_ON;
}

static enum action classify(int argc, char **argv)
{
	static const struct option globals[] = {
		{ "help", no_argument, NULL, 'h' },	{ "version", no_argument, NULL, 'V' },
		{ "full", no_argument, NULL, 'f' },	{ "dry-run", no_argument, NULL, 'n' },
		{ "verbose", no_argument, NULL, 'v' },	{ "quiet", no_argument, NULL, 'q' },
		{ "format", required_argument, NULL, 'F' },
		{ "log", required_argument, NULL, 'l' },
		{ "param", required_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 }
	};
	bool help = false, version = false;
	int c;

	/* Called btrfsck, mkfs.btrfs ... the real one may be another program. */
	if (strcmp(program_invocation_short_name, "btrfs"))
		return HAND_ON;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+vq", globals, NULL)) != -1) {
		if (c == '?')
			return HAND_ON;
		help |= c == 'h';
		version |= c == 'V';
	}
	if (version && !help)
		return HAND_ON;
	return help || optind >= argc ? LIST_ALL : classify_tokens(argv + optind);
}

static bool is_front(const struct stat *st, bool add)
{
	const char *seen = getenv(SEEN) ? getenv(SEEN) : "";
	char all[1024], id[64];

	snprintf(id, sizeof(id), ";%llu:%llu;", (unsigned long long)st->st_dev,
		 (unsigned long long)st->st_ino);
	if (strstr(seen, id))
		return true;
	if (add && snprintf(all, sizeof(all), "%s%s", seen, id) < (int)sizeof(all))
		setenv(SEEN, all, 1);
	return false;
}

static bool is_real(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 && !is_front(&st, false);
}

static bool find_real(char *path, int size)
{
	const char *dirs = BTRFS_REAL_PATH, *name = *dirs ? "" : "/btrfs";
	int len;

	if (!*dirs)
		dirs = getauxval(AT_SECURE) ? NULL : getenv("PATH");
	for (dirs = dirs ? dirs : DEFAULT_PATH; *dirs; dirs += len + (dirs[len] == ':')) {
		len = strcspn(dirs, ":");
		if (*dirs == '/' && snprintf(path, size, "%.*s%s", len, dirs, name) < size &&
		    is_real(path))
			return true;
	}
	return false;
}

static int hand_on(char **argv)
{
	char path[PATH_MAX];
	struct stat self;
	bool found;

	if (stat("/proc/self/exe", &self) == 0 || stat((char *)getauxval(AT_EXECFN), &self) == 0)
		is_front(&self, true);
	found = find_real(path, sizeof(path));
	if (found)
		execv(path, argv);
	fprintf(stderr, "ERROR: cannot hand this command on to '%s': %s\n",
		BTRFS_REAL_PATH[0] || found ? path : "btrfs",
		found ? strerror(errno) : "not found; install the package btrfs-progs");
	return NOT_FOUND;
}

static int run_ours(char **argv)
{
	char path[PATH_MAX + sizeof("/btrfs-policy")] = "";

	if (readlink("/proc/self/exe", path, PATH_MAX) > 0 && strrchr(path, '/')) {
		strcpy(strrchr(path, '/'), "/btrfs-policy");
		execv(path, argv);
	}
	execv(BINDIR "/btrfs-policy", argv);
	fprintf(stderr, "ERROR: cannot run '" BINDIR "/btrfs-policy': %m; "
		"install the package btrfs-policy\n");
	return NOT_FOUND;
}

static int list(char **argv, enum action action)
{
	void (*old)(int) = signal(SIGCHLD, SIG_DFL);	/* ignored, it would lose the status */
	pid_t pid = fork();
	int status;

	if (pid <= 0) {		/* in the child, and without one, there is only the real listing */
		signal(SIGCHLD, old);
		return hand_on(argv);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILURE;
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	signal(SIGPIPE, SIG_IGN);	/* a reader that left early is no failure of ours */
	if (WEXITSTATUS(status) != NOT_FOUND)
		dprintf(STDOUT_FILENO, "\nProvided by btrfs-policy:\n%s%s",
			action == LIST_BALANCE ? "" : device_lines,
			action == LIST_DEVICE ? "" : balance_lines);
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	enum action action = classify(argc, argv);

	if (action == OURS)
		return run_ours(argv);
	return action == HAND_ON ? hand_on(argv) : list(argv, action);
}
