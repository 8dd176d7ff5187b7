/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors, warnings and lines for people; owns the verbosity of the run.
 * The only state of cmds/ that is not handed around.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/common/cleanup.h"
#include "cmds/common/escape.h"
#include "cmds/common/messages.h"

static enum level verbosity = LEVEL_DEFAULT;

const char *const level_names[] = {
	[LEVEL_QUIET] = "quiet",
	[LEVEL_DEFAULT] = "default",
	[LEVEL_INFO] = "info",
	[LEVEL_VERBOSE] = "verbose",
	[LEVEL_DEBUG] = "debug",
	NULL
};

void messages_set_level(enum level level)
{
	verbosity = level;
}

bool messages_at(enum level level)
{
	return verbosity >= level;
}

static void print_line(FILE *stream, const char *prefix, const char *format, va_list args)
{
	_cleanup_free_ char *escaped = NULL;
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		return;
	escaped = escape_text(text);
	fprintf(stream, "%s%s\n", prefix, escaped ? escaped : "not enough memory");
	free(text);
}

void error(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	va_start(args, format);
	print_line(stderr, "ERROR: ", format, args);
	va_end(args);
}

void warning(const char *format, ...)
{
	va_list args;

	if (!messages_at(LEVEL_DEFAULT))
		return;
	fflush(stdout);
	va_start(args, format);
	print_line(stderr, "WARNING: ", format, args);
	va_end(args);
}

void say(enum level level, const char *format, ...)
{
	va_list args;

	if (!messages_at(level))
		return;
	va_start(args, format);
	print_line(stdout, "", format, args);
	va_end(args);
}

int messages_finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	error("cannot write to standard output: %s", strerror(errno));
	return STATUS_FAILURE;
}
