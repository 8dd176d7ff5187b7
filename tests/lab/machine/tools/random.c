/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded into the User-Mode Linux process: its only source of chance is the
 * host's getrandom(), and this one is a fixed stream that depends on LAB_SEED
 * alone.  Nothing else of the host may be replaced here.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static uint64_t next(void)
{
	static uint64_t state;
	static int started;
	uint64_t z;

	if (!started) {
		const char *seed = getenv("LAB_SEED");

		state = seed ? strtoull(seed, NULL, 0) : 0;
		started = 1;
	}
	z = state += 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	char *p = buf;
	size_t n, left = len;

	(void)flags;
	for (; left; left -= n, p += n) {
		uint64_t v = next();

		n = left < sizeof(v) ? left : sizeof(v);
		memcpy(p, &v, n);
	}
	return len;
}
