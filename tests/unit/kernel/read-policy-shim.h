/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few kernel words that the read-policy headers use, for user space.
 */
#ifndef READ_POLICY_SHIM_H
#define READ_POLICY_SHIM_H

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX
#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))
#define SZ_128K		0x20000
#define SZ_256K		0x40000
#define SZ_512K		0x80000
#define SZ_1M		0x100000
#define SZ_2M		0x200000
#define SZ_4M		0x400000
#define SZ_8M		0x800000
#define SZ_16M		0x1000000
#define SZ_32M		0x2000000
#define SZ_64M		0x4000000
#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_SEC	1000000000L

#define min_t(t, a, b)	((t)(a) < (t)(b) ? (t)(a) : (t)(b))
#define max_t(t, a, b)	((t)(a) > (t)(b) ? (t)(a) : (t)(b))
#define clamp_t(t, v, lo, hi)	min_t(t, max_t(t, v, lo), hi)

/* One thread only. */
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

#endif
