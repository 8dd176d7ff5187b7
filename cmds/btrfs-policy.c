/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program that the front calls and that works without it.  Only the entry:
 * tests link everything else to a file system of their own.
 */
#include <fcntl.h>
#include <unistd.h>

#include "cmds/commands.h"

int main(int argc, char **argv)
{
	/*
	 * A file system must not be opened as a standard stream that the caller closed: the
	 * background process replaces these.  Using such a stream still fails.
	 */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	return program_run(argc, argv);
}
