/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulated allocator: which devices a new chunk gets and how long it is.
 */
#include <string.h>

#include "sim.h"

#define MiB (1024ULL * 1024)
#define GiB (1024 * MiB)
#define NEVER 4

const struct sim_rules sim_rules[SIM_PROFILES] = {
	/* devs_min, devs_max, step, copies, parity, stripes on a device */
	[SIM_SINGLE] = { 1, 1, 1, 1, 0, 1 },
	[SIM_DUP] = { 1, 1, 1, 2, 0, 2 },
	[SIM_RAID0] = { 1, 0, 1, 1, 0, 1 },
	[SIM_RAID1] = { 2, 2, 2, 2, 0, 1 },
	[SIM_RAID1C3] = { 3, 3, 3, 3, 0, 1 },
	[SIM_RAID1C4] = { 4, 4, 4, 4, 0, 1 },
	[SIM_RAID10] = { 2, 0, 2, 2, 0, 1 },
	[SIM_RAID5] = { 2, 0, 1, 1, 1, 1 },
	[SIM_RAID6] = { 3, 0, 1, 1, 2, 1 },
};

/* ---- Devices ------------------------------------------------------------ */

uint64_t sim_free(const struct sim_device *device)
{
	uint64_t left = device->size;

	for (int i = 0; i < device->extent_count; i++)
		left -= device->extents[i].end - device->extents[i].start;
	return left;
}

/* The first hole of `wanted` bytes, else the longest. */
uint64_t sim_hole(const struct sim_device *device, uint64_t wanted, uint64_t *start)
{
	uint64_t at = MiB, longest = 0;

	*start = 0;
	for (int i = 0; i <= device->extent_count; i++) {
		uint64_t end = i < device->extent_count ? device->extents[i].start : device->size;

		if (end > at && end - at > longest) {
			longest = end - at;
			*start = at;
			if (longest >= wanted)
				return longest;
		}
		if (i < device->extent_count)
			at = device->extents[i].end;
	}
	return longest;
}

static bool take_extent(struct sim_device *device, uint64_t start, uint64_t length)
{
	int at = device->extent_count;

	if (at == SIM_EXTENTS)
		return false;
	while (at && device->extents[at - 1].start > start) {
		device->extents[at] = device->extents[at - 1];
		at--;
	}
	device->extents[at] = (struct sim_extent){ start, start + length };
	device->extent_count++;
	return true;
}

static void give_extent(struct sim_device *device, uint64_t start)
{
	int at = 0;

	while (device->extents[at].start != start)
		at++;
	device->extent_count--;
	memmove(&device->extents[at], &device->extents[at + 1],
		(device->extent_count - at) * sizeof(device->extents[0]));
}

/* Roles as stored on disk: 1 and 2 are for metadata, 2 and 3 exclude other kinds. */
int sim_rank(const struct sim_device *device, enum sim_kind kind)
{
	bool for_metadata = device->role == 1 || device->role == 2;

	if (device->role == 5)
		return NEVER;
	if (device->role >= 4)
		return 3;
	if (for_metadata == (kind != SIM_DATA))
		return 0;
	return device->role >= 2 ? NEVER : 1;
}

/* ---- A new chunk -------------------------------------------------------- */

struct choice {
	int device;
	uint64_t free_space, hole;
	int rank;
};

/* Of devices of that rank and better ones. */
static uint64_t total_size(const struct sim *sim, enum sim_kind kind, int rank)
{
	uint64_t total = 0;

	for (int i = 0; i < sim->device_count; i++)
		if (sim_rank(&sim->devices[i], kind) <= rank)
			total += sim->devices[i].size;
	return total;
}

/* Devices for metadata keep some bytes for system chunks. */
uint64_t sim_kept(const struct sim_device *device, enum sim_kind kind)
{
	if (kind == SIM_SYSTEM || (device->role != 1 && device->role != 2))
		return 0;
	return device->size < 160 * MiB ? device->size / 10 : 16 * MiB;
}

uint64_t sim_offer(const struct sim_device *device, enum sim_kind kind, uint64_t wanted)
{
	uint64_t start, hole = sim_hole(device, wanted, &start);
	uint64_t free_bytes = sim_free(device), kept = sim_kept(device, kind);

	if (!kept)
		return hole;
	if (free_bytes <= kept)
		return 0;
	return hole < free_bytes - kept ? hole : free_bytes - kept;
}

/* `rank`: the best of the devices of the chunk. */
static uint64_t longest_chunk(const struct sim *sim, enum sim_kind kind, int rank,
			      uint64_t *stripe)
{
	uint64_t all = total_size(sim, kind, NEVER), total = total_size(sim, kind, rank);
	uint64_t most = kind == SIM_DATA ? 10 * GiB : kind == SIM_SYSTEM ? 32 * MiB :
			all > 50 * GiB ? GiB : 256 * MiB;

	*stripe = most < GiB ? most : GiB;
	return most < total / 10 ? most : total / 10;
}

uint64_t sim_useful(const struct sim *sim, enum sim_kind kind, enum sim_profile profile)
{
	uint64_t stripe, most = longest_chunk(sim, kind, 0, &stripe);
	uint64_t useful = (kind == SIM_DATA ? 256 : 64) * MiB;

	useful = stripe < useful ? stripe : useful;
	useful = most < useful ? most : useful;
	return useful * sim_rules[profile].per_device;
}

/* Is `a` to be taken before `b`? */
static bool goes_first(const struct choice *a, const struct choice *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	if (a->hole != b->hole)
		return a->hole > b->hole;
	if (a->free_space != b->free_space)
		return a->free_space > b->free_space;
	return a->device < b->device;
}

static void sort(struct choice *choices, int count, bool by_hole_only)
{
	for (int i = 1; i < count; i++)
		for (int j = i; j > 0; j--) {
			struct choice keep = choices[j];
			bool swap = by_hole_only ? choices[j].hole > choices[j - 1].hole :
						   goes_first(&choices[j], &choices[j - 1]);

			if (!swap)
				break;
			choices[j] = choices[j - 1];
			choices[j - 1] = keep;
		}
}

static int gather(const struct sim *sim, enum sim_kind kind, uint64_t wanted, uint64_t least,
		  struct choice *choices)
{
	int count = 0;

	for (int i = 0; i < sim->device_count; i++) {
		const struct sim_device *device = &sim->devices[i];
		uint64_t hole = sim_offer(device, kind, wanted);

		if (sim_rank(device, kind) == NEVER || hole < least)
			continue;
		choices[count++] = (struct choice){
			.device = i, .free_space = sim_free(device),
			.hole = hole < wanted ? hole : wanted, .rank = sim_rank(device, kind),
		};
	}
	return count;
}

static bool all_alike(const struct choice *choices, int count)
{
	for (int i = 1; i < count; i++)
		if (choices[i].rank != choices[0].rank)
			return false;
	return true;
}

/* How many of the sorted devices a chunk takes. */
static int width(const struct choice *choices, int count, const struct sim_rules *rules)
{
	int enough = rules->devs_min;

	if (rules->devs_max)
		return count / rules->step * rules->step < enough ? 0 : rules->devs_max;
	while (enough % rules->step)
		enough++;
	if (count < enough)
		return 0;
	/* All devices of the ranks that it cannot do without. */
	for (int i = enough; i < count; i++)
		if (choices[i].rank != choices[i - 1].rank)
			return i / rules->step * rules->step;
	return count / rules->step * rules->step;
}

static int best_rank(const struct choice *choices, int count)
{
	int best = NEVER;

	for (int i = 0; i < count; i++)
		best = choices[i].rank < best ? choices[i].rank : best;
	return best;
}

static void lay_out(const struct sim *sim, struct sim_chunk *chunk, const struct choice *choices,
		    uint64_t wanted)
{
	const struct sim_rules *rules = &sim_rules[chunk->profile];

	for (int i = 0; i < chunk->stripes; i++) {
		const struct choice *choice = &choices[i / rules->per_device];
		uint64_t start;

		sim_hole(&sim->devices[choice->device], wanted, &start);
		chunk->devices[i] = choice->device;
		chunk->offsets[i] = start + i % rules->per_device * chunk->stripe_length;
	}
}

bool sim_pick(const struct sim *sim, enum sim_kind kind, enum sim_profile profile,
	      struct sim_chunk *chunk)
{
	const struct sim_rules *rules = &sim_rules[profile];
	uint64_t stripe, most = longest_chunk(sim, kind, NEVER, &stripe);
	uint64_t wanted = stripe * rules->per_device;
	struct choice choices[SIM_DEVICES];
	int count = gather(sim, kind, wanted, 65536 * rules->per_device, choices);
	int data;

	if (!all_alike(choices, count))
		for (int i = 0; i < count; i++)
			if (!choices[i].rank && choices[i].hole < sim_useful(sim, kind, profile))
				choices[i].rank = 2;
	sort(choices, count, false);
	count = width(choices, count, rules);
	if (!count)
		return false;
	most = longest_chunk(sim, kind, best_rank(choices, count), &stripe);
	sort(choices, count, true);
	memset(chunk, 0, sizeof(*chunk));
	chunk->kind = kind;
	chunk->profile = profile;
	chunk->stripes = count * rules->per_device;
	data = (chunk->stripes - rules->parity) / rules->copies;
	stripe = choices[count - 1].hole / rules->per_device;
	if (stripe * data > most) {
		uint64_t less = (most / data + 16 * MiB - 1) / (16 * MiB) * (16 * MiB);

		stripe = less < stripe ? less : stripe;
	}
	stripe = stripe < GiB ? stripe : GiB;
	chunk->stripe_length = stripe / 65536 * 65536;
	chunk->length = chunk->stripe_length * data;
	lay_out(sim, chunk, choices, wanted);
	return chunk->length;
}

bool sim_put(struct sim *sim, struct sim_chunk *chunk)
{
	if (sim->chunk_count == SIM_CHUNKS)
		return false;
	for (int i = 0; i < chunk->stripes; i++)
		if (!take_extent(&sim->devices[chunk->devices[i]], chunk->offsets[i],
				 chunk->stripe_length))
			return false;
	sim->chunks[sim->chunk_count++] = *chunk;
	return true;
}

bool sim_make(struct sim *sim, enum sim_kind kind, enum sim_profile profile)
{
	struct sim_chunk chunk;

	return sim_pick(sim, kind, profile, &chunk) && sim_put(sim, &chunk);
}

void sim_remove(struct sim *sim, int index)
{
	struct sim_chunk *chunk = &sim->chunks[index];

	for (int i = 0; i < chunk->stripes; i++)
		give_extent(&sim->devices[chunk->devices[i]], chunk->offsets[i]);
	chunk->gone = true;
}

/* ---- By stripes --------------------------------------------------------- */

/* 64 KiB of each superblock stay out of it. */
static bool has_superblock(uint64_t start, uint64_t length)
{
	return (start < 64 * MiB + 65536 && start + length > 64 * MiB) ||
	       (start < 256 * GiB + 65536 && start + length > 256 * GiB);
}

/* The first multiple of 4 KiB behind an extent or a superblock at which so much is free. */
static bool find_place(const struct sim_device *device, uint64_t length, uint64_t *start)
{
	uint64_t at = MiB;

	for (int i = 0; i <= device->extent_count; i++) {
		uint64_t end = i < device->extent_count ? device->extents[i].start : device->size;
		const uint64_t tries[] = { at, 64 * MiB + 65536, 256 * GiB + 65536 };

		for (int j = 0; j < 3; j++) {
			if (tries[j] < at || tries[j] + length > end || has_superblock(tries[j], length))
				continue;
			*start = tries[j];
			return true;
		}
		if (i < device->extent_count)
			at = device->extents[i].end;
	}
	return false;
}

bool sim_copy_stripes(struct sim *sim, int index, const int *devices, struct sim_chunk *to)
{
	const struct sim_chunk *chunk = &sim->chunks[index];

	*to = *chunk;
	for (int i = 0; i < chunk->stripes; i++) {
		struct sim_device *device = &sim->devices[devices[i]];

		if (devices[i] == chunk->devices[i])
			continue;
		for (int j = 0; j < chunk->stripes; j++)
			if (to->devices[j] == devices[i] && chunk->profile != SIM_DUP)
				return false;
		if (!find_place(device, chunk->stripe_length, &to->offsets[i]) ||
		    !take_extent(device, to->offsets[i], chunk->stripe_length))
			return false;
		to->devices[i] = devices[i];
	}
	return true;
}

void sim_switch_stripes(struct sim *sim, int index, const struct sim_chunk *to)
{
	struct sim_chunk *chunk = &sim->chunks[index];

	for (int i = 0; i < chunk->stripes; i++)
		if (to->devices[i] != chunk->devices[i])
			give_extent(&sim->devices[chunk->devices[i]], chunk->offsets[i]);
	*chunk = *to;
	chunk->old = false;
}
