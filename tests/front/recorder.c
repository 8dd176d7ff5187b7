/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stands in for btrfs and btrfs-policy in the tests of the front: writes down
 * how it was called into the directory $RECORD, or with $RECORD_ECHO and all of
 * its stdin to stdout, then ends as it was told.
 * As "outcome ARGV0 PROGRAM [ARGS]" it runs a program under the name ARGV0 and
 * prints how that ended, which a shell cannot tell exactly.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static FILE *record_open(const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", getenv("RECORD") ? getenv("RECORD") : ".", name);
	file = fopen(path, "w");
	if (!file)
		exit(99);
	return file;
}

static void record_list(const char *name, char **list)
{
	FILE *file = record_open(name);

	for (; *list; list++)
		fwrite(*list, 1, strlen(*list) + 1, file);
	fclose(file);
}

static void copy_stdin(FILE *file)
{
	char buf[4096];
	size_t len;

	while ((len = fread(buf, 1, sizeof(buf), stdin)) > 0)
		fwrite(buf, 1, len, file);
}

static void record_stdin(void)
{
	FILE *file = record_open("stdin");

	copy_stdin(file);
	fclose(file);
}

static void echo(char **argv)
{
	for (; *argv; argv++)
		fwrite(*argv, 1, strlen(*argv) + 1, stdout);
	copy_stdin(stdout);
	fprintf(stderr, "an error\n");
}

static void record_self(void)
{
	FILE *file = record_open("exe");
	char path[4096] = "";

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		exit(99);
	fprintf(file, "%s\n", path);
	fclose(file);
	file = record_open("pid");
	fprintf(file, "%d\n", (int)getpid());
	fclose(file);
}

static void record(char **argv)
{
	record_list("argv", argv);
	record_list("env", environ);
	record_self();
	if (getenv("RECORD_STDIN"))
		record_stdin();
}

static int end_as_told(void)
{
	const struct rlimit no_core = { 0, 0 };
	int number = getenv("RECORD_SIGNAL") ? atoi(getenv("RECORD_SIGNAL")) : 0;

	if (number) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(number, SIG_DFL);
		raise(number);
	}
	return getenv("RECORD_STATUS") ? atoi(getenv("RECORD_STATUS")) : 0;
}

static int outcome(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		char *program = argv[2];

		if (getenv("IGNORE_SIGCHLD"))
			signal(SIGCHLD, SIG_IGN);
		argv[2] = argv[1];
		execv(program, argv + 2);
		_exit(98);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 97;
	if (WIFSIGNALED(status))
		fprintf(stderr, "signal %d pid %d\n", WTERMSIG(status), (int)pid);
	else
		fprintf(stderr, "exit %d pid %d\n", WEXITSTATUS(status), (int)pid);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(program_invocation_short_name, "outcome") == 0)
		return outcome(argv);
	if (getenv("RECORD_ECHO"))
		echo(argv);
	else
		record(argv);
	if (getenv("RECORD_STDOUT"))
		fputs(getenv("RECORD_STDOUT"), stdout);
	if (getenv("RECORD_STDERR"))
		fputs(getenv("RECORD_STDERR"), stderr);
	fflush(NULL);
	return end_as_told();
}
