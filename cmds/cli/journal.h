/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The system log, for runs without a terminal.
 */
#ifndef CMDS_JOURNAL_H
#define CMDS_JOURNAL_H

#include <stdbool.h>

/* One line, "PREFIX: TEXT", with a priority of syslog(3). */
void journal_write(int priority, const char *prefix, const char *text);

/* Did systemd connect @fd to the journal?  Lines can begin with "<PRIORITY>" then. */
bool journal_receives(int fd);

#endif
