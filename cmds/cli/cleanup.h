/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cleanup at the end of a scope, and allocation that cannot fail.
 * A command cannot continue without memory, so it exits; the library never does.
 */
#ifndef CMDS_CLEANUP_H
#define CMDS_CLEANUP_H

#include <json-c/json.h>
#include <stddef.h>
#include <stdlib.h>

#define DEFINE_CLEANUP(name, type, end)				\
	static inline void cleanup_##name(type *object)		\
	{							\
		if (*object)					\
			end(*object);				\
	}							\
	struct dummy_##name

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

/* Up to NULL; each text and the array are from malloc(). */
void strv_free(char **texts);

DEFINE_CLEANUP(strv, char **, strv_free);
DEFINE_CLEANUP(json, json_object *, json_object_put);

#define _cleanup_(name) __attribute__((cleanup(cleanup_##name)))
#define _cleanup_free_ _cleanup_(free)

/* Ends the program if @pointer is NULL, else returns it. */
void *xcheck(void *pointer);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t count, size_t size);
char *xstrdup(const char *text);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
