// SPDX-License-Identifier: GPL-2.0-only
/* The two models of a hard disk by themselves: what each figure of a data sheet becomes.  Prints TAP. */
#include <stdio.h>
#include <stdlib.h>
#include "sim.h"

#define MS		1000000ull
#define REV		(60000 * MS / 7200)

static struct lm_disk disk, *d = &disk;
static u64 now;
static int n, failed;

static void ok(bool good, const char *kind, const char *what, double value)
{
	printf("%sok %d - %s: %s (%.2f)\n", good ? "" : "not ", ++n, kind, what, value);
	failed += !good;
}

static void in_range(double value, double low, double high, const char *kind, const char *what)
{
	ok(value >= low && value <= high, kind, what, value);
}

static bool parse(const char *spec)
{
	char why[64];

	return !lm_parse(&d->p, spec, strlen(spec), why, sizeof(why));
}

static void begin(const char *kind, const char *words)
{
	char spec[200];

	memset(d, 0, sizeof(*d));
	snprintf(spec, sizeof(spec), "%s:size=16G,seed=3%s%s", kind, *words ? "," : "", words);
	if (!parse(spec))
		abort();
	now = 1000 * MS;
	lm_setup(d, now);
}

static void submit(u32 slot, enum lm_op op, u64 pos, u64 len)
{
	const struct lm_req r = { .pos = pos, .len = len, .op = op };

	lm_submit(d, now, slot, &r);
}

/* The next request that ends; moves the clock. */
static u32 wait_one(void)
{
	u32 slot;

	while (!lm_poll(d, now, &slot)) {
		if (lm_next(d) == LM_NEVER)
			abort();
		now = max(now, lm_next(d));
	}
	return slot;
}

/* How long one request takes that begins now, in ms. */
static double once(enum lm_op op, u64 pos, u64 len)
{
	const u64 start = now;

	submit(0, op, pos, len);
	wait_one();
	return (now - start) / 1e6;
}

/* Requests one after the other from @pos, @depth at once: MiB/s. */
static double stream(enum lm_op op, u64 pos, u64 len, u64 count, u32 depth)
{
	const u64 start = now;

	for (u64 i = 0; i < count + depth; i++) {
		const u32 slot = i < depth ? i : wait_one();

		if (i < count)
			submit(slot, op, pos + i * len, len);
	}
	if (op == LM_WRITE)
		once(LM_FLUSH, 0, 0);
	return count * len / 1048576.0 / ((now - start) / 1e9);
}

/* Random requests of 4 KiB a second. */
static double iops(const char *kind, enum lm_op op, u32 depth)
{
	const u64 count = 3000;
	u64 start;

	begin(kind, "");
	start = now;
	for (u64 i = 0; i < count + depth; i++) {
		const u32 slot = i < depth ? i : wait_one();

		if (i < count)
			submit(slot, op, lm_hash(7, i) % (d->p.size >> 12) << 12, 4096);
	}
	return count / ((now - start) / 1e9);
}

static void test_rates(const char *kind, double outer, double inner)
{
	begin(kind, "");
	in_range(stream(LM_READ, 0, SIM_MIB, 512, 1), 0.97 * outer, 1.01 * outer, kind, "MiB/s of a stream of 1 MiB reads");
	in_range(stream(LM_READ, 512 * SIM_MIB, SIM_MIB, 512, 4), 0.98 * outer, 1.01 * outer, kind, "4 at once are no faster");
	in_range(stream(LM_READ, 0, 65536, 4096, 1), 0.95 * outer, 1.01 * outer, kind, "64 KiB reads are fed by the buffer");
	in_range(stream(LM_READ, (16ull << 30) - 600 * SIM_MIB, SIM_MIB, 512, 2), 0.95 * inner, 1.05 * inner, kind,
		 "the innermost tracks");
	in_range(stream(LM_WRITE, 0, SIM_MIB, 512, 4), 0.97 * outer, 1.03 * outer, kind, "writes with a flush");
	lm_set_slow(d, now, 1000);
	in_range(stream(LM_READ, 600 * SIM_MIB, SIM_MIB, 64, 4), 0.095 * outer, 0.101 * outer, kind, "ten times slower");
	lm_set_slow(d, now, 100);
	lm_set_load(d, now, 50, 1000 * MS);
	in_range(stream(LM_READ, 0, SIM_MIB, 1200, 4), 0.46 * outer, 0.52 * outer, kind, "half the time is someone else's");
	begin(kind, "readahead=0");
	in_range(stream(LM_READ, 0, 65536, 500, 1) * 16 * REV / 1e9, 0.9, 1.05, kind, "64 KiB reads a revolution without a buffer");
}

static void test_random(const char *kind, const double (*bounds)[3], int rows)
{
	char name[100];

	for (int i = 0; i < rows; i++) {
		snprintf(name, sizeof(name), "random reads a second, %.0f at once", bounds[i][0]);
		in_range(iops(kind, LM_READ, bounds[i][0]), bounds[i][1], bounds[i][2], kind, name);
	}
	in_range(iops(kind, LM_WRITE, 1), 120, 400, kind, "random writes a second, sorted by the write cache");
}

static void test_flush(const char *kind)
{
	double took = 0;

	begin(kind, "");
	for (int i = 0; i < 100; i++) {
		took += once(LM_WRITE, lm_hash(5, i) % (d->p.size >> 12) << 12, 4096);
		took += once(LM_FLUSH, 0, 0);
	}
	in_range(took / 100, 11, 14.5, kind, "ms of a random write and its flush");
	/* A flush waits for a read, and that is served by what another one reads. */
	begin(kind, "");
	submit(0, LM_READ, 40 << 20, 1 << 20);
	submit(1, LM_READ, 41 << 20, 4096);
	submit(2, LM_FLUSH, 0, 0);
	for (int i = 0; i < 3; i++)
		wait_one();
	ok(lm_next(d) == LM_NEVER && !d->st.queue, kind, "a flush behind reads of one place ends", d->st.queue);
}

/* Whatever comes in whatever order: all of it ends, and twice at the same time. */
static u64 random_work(const char *kind, u64 seed)
{
	u32 busy = 0, bits[32] = { 0 };

	begin(kind, seed % 2 ? "segments=2,wcache=1M" : "");
	for (u64 i = 0; i < 5000; i++) {
		const u64 r = lm_hash(seed, i), kib = 1ull << r % 11;
		const u32 slot = i % 32;
		const int what = r / 11 % 40;

		while (bits[slot] || (busy && r / 440 % 3 == 0))
			bits[wait_one()] = 0, busy--;
		if (what == 39)
			lm_set_slow(d, now, 50 + r / 440 % 200);
		else if (what == 38)
			lm_set_load(d, now, r / 440 % 60, 20 * MS);
		else
			now += r / 440 % 4 * MS;
		submit(slot, what < 2 ? LM_FLUSH : what < 14 ? LM_WRITE : LM_READ,
		       r / 440 % (what % 2 ? 64 * SIM_MIB : d->p.size - SIM_MIB) / 4096 * 4096, what < 2 ? 0 : kib << 10);
		bits[slot] = 1;
		busy++;
	}
	while (busy--)
		wait_one();
	return now;
}

/* Streams that overlap, so that one place is in several segments: none waits for ever. */
static u64 overlapping(const char *kind, u64 seed)
{
	u64 at[3] = { 0 }, longest = 0;

	begin(kind, "");
	for (u64 i = 0; i < 20000; i++) {
		const u64 r = lm_hash(seed, i), kib = 4ull << r % 7, s = r / 7 % 3, start = now;

		if (r / 21 % 50 == 0)
			at[s] = r / 1050 % 2048 << 12;
		now += r / 1050 % 5 ? 0 : r % (3 * MS);
		submit(0, LM_READ, at[s], kib << 10);
		if (r / 21 % 4 == 0)
			submit(1, LM_READ, at[(s + 1) % 3] + (kib << 10), 4096), wait_one();
		wait_one();
		longest = max(longest, now - start);
		at[s] += kib << 10;
	}
	return longest;
}

static void test_any(const char *kind)
{
	bool same = true;
	u64 end = 0, longest = 0;

	for (u64 seed = 1; seed <= 6; seed++) {
		end = random_work(kind, seed);
		same &= end == random_work(kind, seed) && end < 4000 * NSEC_PER_SEC;
	}
	for (u64 seed = 1; seed <= 20; seed++)
		longest = max(longest, overlapping(kind, seed));
	in_range(longest / 1e6, 5, 60, kind, "ms of the longest read of streams that overlap");
	ok(same, kind, "any work ends, and at the same time again, s", end / 1e9);
}

/* Of one kind: what the other has not got. */
static void test_seeks(void)
{
	double sum = 0, most = 0;
	u64 used;

	begin("track", "");
	used = d->hdd.tracks.used;
	in_range(used, 2000, 3000, "track", "cylinders of 16 GiB");
	ok(lm_track_seek(d, 1) == d->p.seek, "track", "ms to the next cylinder", lm_track_seek(d, 1) / 1e6);
	in_range(lm_track_seek(d, used - 1) / 1e6, 16.95, 17, "track", "ms of a full stroke");
	for (u64 i = 0; i < 20000; i++) {
		const u64 a = lm_hash(1, i) % used, b = lm_hash(2, i) % used;

		sum += a == b ? 0 : lm_track_seek(d, a < b ? b - a : a - b);
	}
	in_range(sum / 20000 / 1e6, 8.4, 8.6, "track", "ms of the average seek");
	for (u64 x = 2; x < used; x++)
		most = max(most, (double)lm_track_seek(d, x - 1) - lm_track_seek(d, x));
	ok(most <= 0, "track", "a longer seek takes no less", most);
	ok(!parse("track:average=5ms") && !parse("track:average=10ms") && parse("track:average=9.4ms"), "track",
	   "averages that no such curve has are refused", 0);
}

static void test_tracks(void)
{
	u64 len, skew, bytes, lens[2];
	double most = 0;

	begin("track", "");
	len = d->hdd.tracks.zone[0].len[0];
	skew = d->hdd.tracks.skew;
	in_range(len / 1048576.0, 1.94, 2.06, "track", "MiB of an outer track");
	ok(d->hdd.m->tau(d, len) - d->hdd.m->tau(d, 0) == REV + skew, "track", "ms to switch to the next surface", skew / 1e6);
	bytes = d->hdd.tracks.zone[0].bytes;
	ok(d->hdd.m->tau(d, bytes) - d->hdd.m->tau(d, 0) == 4 * REV + 3 * skew + d->p.seek + d->p.wsettle, "track",
	   "ms to switch to the next cylinder", (d->p.seek + d->p.wsettle) / 1e6);
	/* There and back. */
	for (u64 i = 0; i < 100000; i++) {
		const u64 pos = lm_hash(3, i) % (d->p.size >> 12) << 12;
		const u64 back = d->hdd.m->tau_inverse(d, d->hdd.m->tau(d, pos) + 1000);

		most = max(most, (double)(back > pos ? back - pos : pos - back));
	}
	ok(most <= 512, "track", "a position comes back from its time", most);
	/* Whole tracks are read from wherever the head arrives. */
	most = 0;
	for (u64 i = 0; i < 300; i++) {
		const u64 cyl = lm_hash(4, i) % 100;
		double took;

		once(LM_READ, 150 * bytes, 4096);
		now += 3 * REV + lm_hash(5, i) % REV;
		lm_segment_drop(&d->hdd, 0, d->p.size);
		took = once(LM_READ, cyl * bytes, len) * 1e6 - lm_track_seek(d, 150 - cyl) - d->p.ovh;
		most = max(most, took / REV);
	}
	in_range(most, 0.9999, 1.0001, "track", "revolutions for a whole track, at most");
	/* One read fills the buffer with its track, and the next track stays out. */
	begin("track", "");
	once(LM_READ, len / 2, 4096);
	now += 3 * REV;
	once(LM_READ, len - 4096, 4096);
	ok(d->st.cache_hits == 1, "track", "the rest of the track is in the buffer", d->st.cache_hits);
	now += 3 * REV;
	once(LM_READ, 2 * len + 65536, 4096);
	ok(d->st.cache_hits == 1, "track", "another track is not", d->st.cache_hits);
	lens[0] = len;
	begin("track", "seed=4");
	lens[1] = d->hdd.tracks.zone[0].len[0];
	ok(lens[0] != lens[1], "track", "another disk has tracks of other lengths", lens[1] / 1048576.0);
}

/* Served in which order: each digit the slot. */
static u64 order(const u64 *mib, u32 count, enum lm_op op)
{
	u64 seen = 0;

	once(LM_READ, 5000 * SIM_MIB, 4096);
	for (u32 i = 0; i < count; i++)
		submit(i + 1, op, mib[i] * SIM_MIB, 4096);
	for (u32 i = 0; i < count; i++)
		seen = seen * 10 + wait_one();
	return seen;
}

static void test_order(void)
{
	/* The first begins at once. */
	static const u64 mib[] = { 6000, 5900, 9000, 100, 6100, 4900 };
	u64 seen, start;

	begin("track", "");
	seen = order(mib, 6, LM_READ);
	ok(seen == 153462, "track", "upwards from the head, then from the start", seen);
	begin("hdd", "");
	seen = order(mib, 6, LM_READ);
	ok(seen != 153462, "hdd", "another order", seen);
	begin("track", "wcache=0");
	seen = order(mib, 6, LM_WRITE);
	ok(seen == 153462, "track", "writes, too", seen);
	/* A stream that never ends lets others wait, but not for ever. */
	begin("track", "");
	start = now;
	for (u32 i = 0; i < 4; i++)
		submit(i, LM_READ, (5000 + i) * SIM_MIB, SIM_MIB);
	submit(9, LM_READ, 0, 4096);
	for (u64 i = 4;; i++) {
		const u32 slot = wait_one();

		if (slot == 9)
			break;
		submit(slot, LM_READ, (5000 + i) * SIM_MIB, SIM_MIB);
	}
	in_range((now - start) / 1e6, 500, 540, "track", "ms that a request waits beside a stream");
}

int main(void)
{
	static const double hdd[][3] = {
		{ 1, 74, 80 }, { 4, 95, 110 }, { 8, 118, 138 }, { 16, 145, 170 }, { 32, 170, 205 },
	}, track[][3] = {
		{ 1, 74, 80 }, { 4, 80, 110 }, { 8, 90, 120 }, { 16, 110, 140 }, { 32, 140, 165 },
	};

	test_rates("hdd", 217, 217);
	test_random("hdd", hdd, 5);
	test_flush("hdd");
	test_any("hdd");
	test_rates("track", 217, 119);
	test_random("track", track, 5);
	test_flush("track");
	test_any("track");
	test_seeks();
	test_tracks();
	test_order();
	printf("1..%d\n", n);
	return failed != 0;
}
