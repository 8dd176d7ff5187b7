/* SPDX-License-Identifier: GPL-2.0-only */
/* For user space: what the tested files of scrub use of the header of this name. */
#ifndef UNIT_MATH64_H
#define UNIT_MATH64_H

#include <linux/types.h>

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

#endif
