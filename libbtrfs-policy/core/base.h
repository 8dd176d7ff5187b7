/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Macros, texts and arrays for all folders of the library; declares no type.
 */
#ifndef BP_BASE_H
#define BP_BASE_H

#include <errno.h>
#include <stdarg.h>

#include "core/cleanup.h"

#define BP_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BP_PUBLIC __attribute__((visibility("default")))
#define BP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/*
 * The array with space for `needed` entries of `size` bytes, perhaps in another place; NULL
 * without memory, and then it is as it was.
 */
static inline void *bp_grown(void *array, size_t *space, size_t needed, size_t size)
{
	size_t more = *space ? *space : 64;

	if (array && needed <= *space)
		return array;
	while (more < needed)
		more *= 2;
	array = reallocarray(array, more, size);
	if (array)
		*space = more;
	return array;
}

/* errors.c: allocated text, or NULL without memory */
char *bp_format(const char *fmt, ...) BP_PRINTF(1, 2);

#endif
