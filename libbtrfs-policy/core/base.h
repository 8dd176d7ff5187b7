/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Macros and texts that every room uses, and no type.
 */
#ifndef BP_BASE_H
#define BP_BASE_H

#include <errno.h>
#include <stdarg.h>

#include "core/cleanup.h"

#define BP_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BP_PUBLIC __attribute__((visibility("default")))
#define BP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* errors.c: allocated text, or NULL without memory */
char *bp_format(const char *fmt, ...) BP_PRINTF(1, 2);

#endif
