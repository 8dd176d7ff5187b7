// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of a disk specification, "hdd:size=8G,seed=1", and the listings of
 * parameters and statistics.  One table names each parameter, its unit and its
 * bounds; nothing else parses or prints them.  Pure, like the model.
 */
#include "labdisk-model.h"
#ifdef __KERNEL__
#include <linux/kernel.h>
#define EINVAL_		22
#define print		scnprintf
#else
#include <stdio.h>
#define EINVAL_		22
#define print(buf, size, ...) ((size_t)snprintf(buf, size, __VA_ARGS__))
#endif

enum unit { NUMBER, BYTES, TIME };

static const struct word {
	const char *name;
	enum unit unit;
	size_t offset;
	u64 min, max;
} words[] = {
#define W(n, u, lo, hi)	{ #n, u, offsetof(struct lm_param, n), lo, hi }
#define SECONDS		1000000000ull
	W(size, BYTES, 1 << 20, 1ull << 45),
	W(seed, NUMBER, 0, 0xffffffff),
	W(queue, NUMBER, 1, LM_SLOTS),
	W(ovh, TIME, 0, SECONDS),
	W(bus, BYTES, 1 << 20, 1ull << 40),
	W(wcache, BYTES, 0, 1ull << 32),
	W(flush, TIME, 0, 10 * SECONDS),
	W(fua, NUMBER, 0, 1),
	W(cpu, TIME, 0, SECONDS / 1000),
	W(load, NUMBER, 0, 99),
	W(load_period, TIME, SECONDS / 1000000, 60 * SECONDS),
	W(slow, NUMBER, 1, 100000),
	{ "volatile", NUMBER, offsetof(struct lm_param, vol), 0, 1 },
	W(rpm, NUMBER, 60, 60000),
	W(rate, BYTES, 1 << 20, 1ull << 34),
	W(inner, BYTES, 0, 1ull << 34),
	W(skew, BYTES, 0, 1ull << 40),
	W(seek, TIME, 0, SECONDS),
	W(stroke, TIME, 0, SECONDS),
	W(wsettle, TIME, 0, SECONDS),
	W(readahead, BYTES, 0, 1 << 28),
	W(segments, NUMBER, 0, LM_SEGMENTS),
	W(age, TIME, 0, 1000 * SECONDS),
	W(surfaces, NUMBER, 1, LM_SURFACES),
	W(hswitch, TIME, 0, SECONDS),
	W(average, TIME, 0, SECONDS),
	W(channels, NUMBER, 1, LM_CHANNELS),
	W(read, TIME, 0, SECONDS),
	W(write, TIME, 0, SECONDS),
	W(unit, BYTES, 512, 1 << 24),
	W(wrate, BYTES, 0, 1ull << 40),
};

#define WORDS	(sizeof(words) / sizeof(words[0]))
#define MS	1000000ull
#define US	1000ull
#define MIB	(1ull << 20)

static const char * const kind_names[] = { "hdd", "track", "ssd", "nvme" };

static const struct lm_param defaults[] = {
	[LM_HDD] = {
		.kind = LM_HDD, .size = 8ull << 30, .queue = 32,
		.ovh = 60 * US, .bus = 550000000, .wcache = 32 << 20,
		.load_period = 100 * MS, .slow = 100,
		.rpm = 7200, .rate = 217 << 20, .skew = MIB,
		.seek = 800 * US,
		.stroke = 14300 * US, .wsettle = 500 * US,
		.readahead = 2 << 20, .segments = 16, .age = 800 * MS,
		.channels = 1, .unit = 4096,
	},
	[LM_TRACK] = {
		.kind = LM_TRACK, .size = 8ull << 30, .queue = 32,
		.ovh = 60 * US, .bus = 550000000, .wcache = 32 << 20,
		.load_period = 100 * MS, .slow = 100,
		.rpm = 7200, .rate = 240 << 20,
		.surfaces = 4, .hswitch = 500 * US, .seek = 800 * US,
		.average = 8500 * US, .stroke = 16200 * US, .wsettle = 300 * US,
		.readahead = 4 << 20, .segments = 16, .age = 500 * MS,
		.channels = 1, .unit = 4096,
	},
	[LM_SSD] = {
		.kind = LM_SSD, .size = 8ull << 30, .queue = 32,
		.bus = 513 << 20, .wcache = 1 << 20, .flush = MS,
		.load_period = 100 * MS, .slow = 100, .rpm = 7200,
		.rate = 217 << 20, .channels = 10, .read = 90 * US,
		.write = 40 * US, .unit = 16384,
	},
	[LM_NVME] = {
		.kind = LM_NVME, .size = 8ull << 30, .queue = LM_SLOTS - 1,
		.bus = 3200000000ull, .wcache = 1 << 20, .flush = 500 * US,
		.fua = 1, .cpu = US,
		.load_period = 100 * MS, .slow = 100, .rpm = 7200,
		.rate = 217 << 20, .channels = 64, .read = 70 * US,
		.write = 20 * US, .unit = 16384,
	},
};

static u64 *field(struct lm_param *p, const struct word *w)
{
	return (u64 *)((char *)p + w->offset);
}

static bool same(const char *s, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(s, name, len);
}

/* What one of the unit stands for; 0: no such unit here. */
static u64 scale(enum unit unit, const char *s, size_t len)
{
	static const struct { const char *name; enum unit unit; u64 n; } t[] = {
		{ "", NUMBER, 1 }, { "", BYTES, 1 }, { "K", BYTES, 1ull << 10 },
		{ "M", BYTES, 1ull << 20 }, { "G", BYTES, 1ull << 30 },
		{ "T", BYTES, 1ull << 40 }, { "ns", TIME, 1 },
		{ "us", TIME, US }, { "ms", TIME, MS }, { "s", TIME, SECONDS },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (t[i].unit == unit && same(s, len, t[i].name))
			return t[i].n;
	/* A bare 0 needs no unit. */
	return unit == TIME && !len ? 1 : 0;
}

/* Digits, perhaps a decimal fraction, perhaps a unit. */
static bool parse_value(const struct word *w, const char *s, size_t len, u64 *out)
{
	u64 whole = 0, part = 0, div = 1, mul;
	size_t i = 0;

	for (; i < len && s[i] >= '0' && s[i] <= '9'; i++) {
		if (whole > 1ull << 50)
			return false;
		whole = whole * 10 + (s[i] - '0');
	}
	if (!i)
		return false;
	if (i < len && s[i] == '.')
		for (i++; i < len && s[i] >= '0' && s[i] <= '9'; i++) {
			if (div == 1000000)
				return false;
			part = part * 10 + (s[i] - '0');
			div *= 10;
		}
	mul = scale(w->unit, s + i, len - i);
	if (!mul || (mul == 1 && div > 1) || whole > (1ull << 62) / mul)
		return false;
	if (w->unit == TIME && i == len && whole)
		return false;
	*out = whole * mul + part * (mul / div) + part * (mul % div) / div;
	return *out >= w->min && *out <= w->max;
}

static int parse_pair(struct lm_param *p, const char *s, size_t len)
{
	const char *eq = memchr(s, '=', len);
	size_t i, n;

	if (!eq)
		return -EINVAL_;
	n = eq - s;
	for (i = 0; i < WORDS; i++)
		if (same(s, n, words[i].name))
			return parse_value(&words[i], eq + 1, len - n - 1,
					   field(p, &words[i])) ? 0 : -EINVAL_;
	return -EINVAL_;
}

static int parse_kind(struct lm_param *p, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]); i++)
		if (same(s, len, kind_names[i])) {
			*p = defaults[i];
			return 0;
		}
	return -EINVAL_;
}

/* What depends on more than one word. */
static int check(struct lm_param *p)
{
	if (lm_rotates(p) && p->queue > 256)
		return -EINVAL_;
	/* Or the seek curve falls somewhere: it is a root, a straight line or both. */
	if (p->kind == LM_TRACK && (p->average < p->seek + (p->stroke + 2) / 3 ||
				    p->average > p->seek + p->stroke * 8 / 15))
		return -EINVAL_;
	if (p->inner > p->rate)
		return -EINVAL_;
	p->size -= p->size % 4096;
	return 0;
}

/* "kind[:name=value[,name=value]...]"; on failure why holds the word at fault. */
int lm_parse(struct lm_param *p, const char *spec, size_t len,
	     char *why, size_t why_len)
{
	const char *end = spec + len, *word = spec, *stop = memchr(spec, ':', len);
	int ret = parse_kind(p, spec, (stop ? stop : end) - spec);

	if (!stop)
		stop = end;
	while (!ret && stop < end) {
		word = stop + 1;
		stop = memchr(word, ',', end - word);
		if (!stop)
			stop = end;
		ret = parse_pair(p, word, stop - word);
	}
	if (!ret)
		ret = check(p);
	if (ret)
		print(why, why_len, "%.*s", (int)(stop - word), word);
	return ret;
}

size_t lm_print_param(const struct lm_param *p, char *buf, size_t size)
{
	size_t n = print(buf, size, "kind %s\n", kind_names[p->kind]), i;

	for (i = 0; i < WORDS; i++)
		n += print(buf + n, size - n, "%s %llu\n", words[i].name,
			   (unsigned long long)*field((struct lm_param *)p,
						      &words[i]));
	return n;
}

size_t lm_print_stats(const struct lm_stats *st, char *buf, size_t size)
{
#define S(n)	{ #n, st->n }
	const struct { const char *name; u64 v; } t[] = {
		S(reads), S(writes), S(flushes), S(discards), S(errors),
		S(read_bytes), S(write_bytes), S(discard_bytes), S(cache_hits),
		S(seeks), S(seek_ns), S(rot_ns), S(media_ns), S(busy_ns),
		S(destages), S(cache_full), S(foreign_ns), S(queue),
		S(max_queue), S(superblocks),
	};
	size_t n = 0, i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		n += print(buf + n, size - n, "%s %llu\n", t[i].name,
			   (unsigned long long)t[i].v);
	return n;
}
