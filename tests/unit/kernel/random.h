/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers to try the kernel's arithmetic with: the same in every run.
 * Needs the kernel's types, so it comes after one of its headers.
 */
#ifndef UNIT_RANDOM_H
#define UNIT_RANDOM_H

static u64 seed = 88172645463325252ULL;

static inline u64 rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static inline u32 rnd_below(u32 limit)
{
	return (u32)(rnd() >> 20) % limit;
}

/* Numbers of all magnitudes, with the ends more often than chance has it. */
static inline u64 rnd_wide(void)
{
	u64 r = rnd();

	return r % 16 == 0 ? 0 : r % 16 == 1 ? U64_MAX : rnd() >> (rnd() % 64);
}

#endif
