/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers to try the read policy's arithmetic with: the same in every run.
 * Needs the kernel's types, so it comes after one of the policy's headers.
 */
#ifndef READ_POLICY_RANDOM_H
#define READ_POLICY_RANDOM_H

static u64 seed = 88172645463325252ULL;

static u64 rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Numbers of all magnitudes, with the ends more often than chance has it. */
static u64 rnd_wide(void)
{
	u64 r = rnd();

	return r % 16 == 0 ? 0 : r % 16 == 1 ? U64_MAX : rnd() >> (rnd() % 64);
}

#endif
