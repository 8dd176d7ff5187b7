/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only file that calls syslog(3), which systemd's journal and every other
 * system log receive.
 */
#include <stdbool.h>
#include <syslog.h>

#include "cmds/common/journal.h"

void journal_write(int priority, const char *prefix, const char *text)
{
	static bool open;

	if (!open)
		openlog("btrfs-policy", LOG_PID, LOG_DAEMON);
	open = true;
	syslog(priority, "%s: %s", prefix, text);
}
