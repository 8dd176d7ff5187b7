/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only file that calls syslog(3), which systemd's journal and every other
 * system log receive.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>

#include "cmds/cli/journal.h"

void journal_write(int priority, const char *prefix, const char *text)
{
	static bool open;

	if (!open)
		openlog(PACKAGE_NAME, LOG_PID, LOG_DAEMON);
	open = true;
	syslog(priority, "%s: %s", prefix, text);
}

bool journal_receives(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char name[64];
	struct stat st;

	if (!stream || fstat(fd, &st))
		return false;
	snprintf(name, sizeof(name), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	return !strcmp(stream, name);
}
