/* SPDX-License-Identifier: GPL-2.0-only */
/* For user space: what the tested files of scrub use of the header of this name. */
#ifndef UNIT_TYPES_H
#define UNIT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include_next <linux/types.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define U64_MAX		UINT64_MAX

#endif
