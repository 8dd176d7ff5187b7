/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of the programs, with the prefixes and levels of btrfs.
 * Errors and warnings go to stderr, results to stdout; text from outside is made
 * harmless here, so callers hand it in as it is.
 */
#ifndef CMDS_MESSAGES_H
#define CMDS_MESSAGES_H

#include <stdbool.h>

/* Exit statuses that every program has. */
#define STATUS_OK	0	/* done, or nothing to do */
#define STATUS_FAILURE	1	/* failure or bad usage */
#define STATUS_GLOBAL	129	/* unknown global option */

/* How much is said, --log */
enum {
	LEVEL_QUIET = 0,
	LEVEL_DEFAULT = 1,
	LEVEL_INFO = 2,
	LEVEL_VERBOSE = 3,
	LEVEL_DEBUG = 4,
};

/* Words of --log, in the order of their levels. */
extern const char *const level_names[];

void messages_set_level(int level);
bool messages_at(int level);

void error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for bad usage, with the name of the command in place of "ERROR". */
void usage_error(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The last error as it was given, or NULL. */
const char *messages_last_error(void);
void warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line on stdout for people, shown from @level on. */
void say(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on errors, warnings and results go to the system log too, behind @prefix. */
void messages_to_journal(const char *prefix);

/* Flushes stdout; STATUS_FAILURE with an error if output was lost. */
int messages_finish(int status);

#endif
