/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors, warnings and lines for people; owns the verbosity of the run and
 * whether the system log gets them too.
 * The only state of cmds/ that is not handed around.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "cmds/cli/cleanup.h"
#include "cmds/cli/escape.h"
#include "cmds/cli/journal.h"
#include "cmds/cli/messages.h"

static int verbosity = LEVEL_DEFAULT;
static char *last_error;
static char *journal;	/* prefix of messages to the system log; NULL: do not log */

const char *const level_names[] = {
	[LEVEL_QUIET] = "quiet",
	[LEVEL_DEFAULT] = "default",
	[LEVEL_INFO] = "info",
	[LEVEL_VERBOSE] = "verbose",
	[LEVEL_DEBUG] = "debug",
	NULL
};

void messages_set_level(int level)
{
	verbosity = level;
}

bool messages_at(int level)
{
	return verbosity >= level;
}

void messages_to_journal(const char *prefix)
{
	free(journal);
	journal = xstrdup(prefix);
}

const char *messages_last_error(void)
{
	return last_error;
}

/* The line without control characters; NULL without memory. */
static char *make_line(const char *format, va_list args)
{
	_cleanup_free_ char *text = NULL;

	if (vasprintf(&text, format, args) < 0) {
		text = NULL;
		return NULL;
	}
	return escape_text(text);
}

/* @priority: of the system log, if the line goes there too, or is all that systemd reads. */
static void print_line(FILE *stream, const char *prefix, int priority, const char *text)
{
	if (journal_receives(fileno(stream)))
		fprintf(stream, "<%d>", priority);
	fprintf(stream, "%s%s\n", prefix, text ? text : "not enough memory");
	if (journal && text && *text)
		journal_write(priority, journal, text);
}

void error(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	va_start(args, format);
	free(last_error);
	last_error = make_line(format, args);
	va_end(args);
	print_line(stderr, "ERROR: ", LOG_ERR, last_error);
}

void usage_error(const char *name, const char *format, ...)
{
	_cleanup_free_ char *prefix = xasprintf("%s: ", name);
	va_list args;

	va_start(args, format);
	free(last_error);
	last_error = make_line(format, args);
	va_end(args);
	print_line(stderr, prefix, LOG_ERR, last_error);
}

void warning(const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;

	if (!messages_at(LEVEL_DEFAULT))
		return;
	fflush(stdout);
	va_start(args, format);
	text = make_line(format, args);
	va_end(args);
	print_line(stderr, "WARNING: ", LOG_WARNING, text);
}

void say(int level, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;

	if (!messages_at(level))
		return;
	va_start(args, format);
	text = make_line(format, args);
	va_end(args);
	print_line(stdout, "", LOG_INFO, text);
}

int messages_finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	error("cannot write to standard output: %s", strerror(errno));
	return STATUS_FAILURE;
}
