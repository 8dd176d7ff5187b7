/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * twice PROGRAM PROGRAM: each line of stdin is the words of a call of btrfs,
 * between tabs; both programs get it, under that name, with the file $TWICE_STDIN
 * as stdin.  Says where stdout, stderr or the way they ended are not the same; the
 * block that the front adds to listings does not count.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 32
#define LINE 4096
#define BLOCK "\nProvided by btrfs-policy:\n"

extern char **environ;

struct end {
	int status;
	char out[1 << 18];
	char err[1 << 16];
	size_t out_length;
	size_t err_length;
};

static int out_fd, err_fd;

static void die(const char *what)
{
	perror(what);
	exit(99);
}

/* What has been written, which must not be more than fits. */
static size_t take(int fd, char *buf, size_t size)
{
	ssize_t length = pread(fd, buf, size, 0);

	if (length < 0 || length == (ssize_t)size || ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET))
		die("output");
	buf[length] = '\0';
	return length;
}

static void run(const char *program, char **argv, struct end *end)
{
	const char *in = getenv("TWICE_STDIN") ? getenv("TWICE_STDIN") : "/dev/null";
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, in, O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
	posix_spawn_file_actions_adddup2(&actions, err_fd, 2);
	if (posix_spawn(&pid, program, &actions, NULL, argv, environ) ||
	    waitpid(pid, &end->status, 0) < 0)
		die(program);
	posix_spawn_file_actions_destroy(&actions);
	end->out_length = take(out_fd, end->out, sizeof(end->out));
	end->err_length = take(err_fd, end->err, sizeof(end->err));
}

/* Listings end with it. */
static void cut_block(struct end *end)
{
	char *block = memmem(end->out, end->out_length, BLOCK, strlen(BLOCK));

	if (block)
		end->out_length = block - end->out;
}

static bool same(const struct end *a, const struct end *b)
{
	return a->status == b->status && a->out_length == b->out_length &&
	       a->err_length == b->err_length && !memcmp(a->out, b->out, a->out_length) &&
	       !memcmp(a->err, b->err, a->err_length);
}

static bool run_both(char **programs, char *line)
{
	static struct end first, second;
	static char name[] = "btrfs", shown[LINE];
	char *argv[WORDS] = { name };
	int argc = 1;

	line[strcspn(line, "\n")] = '\0';
	strcpy(shown, line);
	while (line && *line && argc < WORDS - 1)
		argv[argc++] = strsep(&line, "\t");
	run(programs[0], argv, &first);
	run(programs[1], argv, &second);
	cut_block(&second);
	if (same(&first, &second))
		return true;
	printf("differs: %s (status %x and %x)\n%s%s--\n%s%s", shown, first.status, second.status,
	       first.out, first.err, second.out, second.err);
	return false;
}

int main(int argc, char **argv)
{
	unsigned int cases = 0, bad = 0;
	char line[LINE];

	if (argc != 3)
		return 2;
	out_fd = memfd_create("out", MFD_CLOEXEC);
	err_fd = memfd_create("err", MFD_CLOEXEC);
	if (out_fd < 0 || err_fd < 0)
		die("memfd");
	for (; fgets(line, sizeof(line), stdin); cases++)
		bad += !run_both(argv + 1, line);
	printf("%u calls, %u differ\n", cases, bad);
	return bad || !cases;
}
