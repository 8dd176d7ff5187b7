/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation that ends the program when there is no memory left.
 * Only for cmds/: no change is half done when one of these ends the program, because
 * the library has either returned or not been called yet.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cmds/cli/cleanup.h"
#include "cmds/cli/messages.h"

void *xcheck(void *pointer)
{
	if (pointer)
		return pointer;
	error("not enough memory");
	exit(STATUS_FAILURE);
}

void *xcalloc(size_t count, size_t size)
{
	return xcheck(calloc(count ? count : 1, size));
}

void *xrealloc(void *old, size_t count, size_t size)
{
	return xcheck(reallocarray(old, count, size));
}

void strv_free(char **texts)
{
	for (char **text = texts; text && *text; text++)
		free(*text);
	free(texts);
}

char *xstrdup(const char *text)
{
	return xcheck(strdup(text));
}

char *xasprintf(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return xcheck(text);
}
