/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers that look random and are the same in every run: a round is known by its
 * seed alone.
 */
#ifndef FUZZ_RANDOM_H
#define FUZZ_RANDOM_H

#include <stdint.h>

static uint64_t random_state;

static inline void random_seed(uint64_t seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
}

static inline uint64_t random_number(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

#endif
