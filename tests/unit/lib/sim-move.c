/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulated relocation, and the classification of chunks.
 */
#include <string.h>

#include "sim.h"

#define MiB (1024ULL * 1024)

/* ---- Verdicts ----------------------------------------------------------- */

static int own_devices(const struct sim *sim, const struct sim_chunk *chunk, int rank, bool least)
{
	int found = 0, step = sim_rules[chunk->profile].per_device;

	for (int i = 0; i < chunk->stripes; i += step) {
		int own = sim_rank(&sim->devices[chunk->devices[i]], chunk->kind);

		found += least ? own >= rank : own == rank;
	}
	return found;
}

bool sim_excluded(const struct sim *sim, const struct sim_chunk *chunk)
{
	return own_devices(sim, chunk, 4, false);
}

int sim_off_first(const struct sim *sim, const struct sim_chunk *chunk)
{
	return own_devices(sim, chunk, 1, true);
}

static bool has_stripe_on(const struct sim_chunk *chunk, int device)
{
	for (int i = 0; i < chunk->stripes; i++)
		if (chunk->devices[i] == device)
			return true;
	return false;
}

bool sim_misplaced(const struct sim *sim, const struct sim_chunk *chunk)
{
	const struct sim_rules *rules = &sim_rules[chunk->profile];
	int vacant = 0, first = own_devices(sim, chunk, 0, false);

	if (sim_excluded(sim, chunk))
		return true;
	if (!sim_off_first(sim, chunk))
		return false;
	for (int i = 0; i < sim->device_count; i++) {
		const struct sim_device *device = &sim->devices[i];
		uint64_t part = chunk->stripe_length * rules->per_device + MiB;
		uint64_t kept = sim_kept(device, chunk->kind);
		uint64_t useful = sim_useful(sim, chunk->kind, chunk->profile) + (kept > MiB ? kept : MiB);

		vacant += !sim_rank(device, chunk->kind) && !has_stripe_on(chunk, i) &&
			  sim_free(device) >= (part > useful ? part : useful);
	}
	if (rules->devs_max)
		return vacant;
	return (first + vacant) / rules->step * rules->step >= rules->devs_min;
}

/* As well as if all devices were empty. */
bool sim_correctly_placed(const struct sim *sim, const struct sim_chunk *chunk)
{
	static struct sim empty;
	struct sim_chunk best;

	if (sim_misplaced(sim, chunk))
		return false;
	empty.device_count = sim->device_count;
	for (int i = 0; i < sim->device_count; i++) {
		empty.devices[i].size = sim->devices[i].size;
		empty.devices[i].role = sim->devices[i].role;
	}
	if (!sim_pick(&empty, chunk->kind, chunk->profile, &best))
		return true;
	return sim_off_first(sim, chunk) * best.stripes <=
	       sim_off_first(&empty, &best) * chunk->stripes;
}

/* ---- Moving ------------------------------------------------------------- */

/* Of the profiles that exist the one that new chunks get. */
enum sim_profile sim_next_profile(const struct sim *sim, enum sim_kind kind)
{
	static const enum sim_profile order[] = {
		SIM_RAID1C4, SIM_RAID6, SIM_RAID1C3, SIM_RAID5, SIM_RAID10, SIM_RAID1, SIM_DUP,
		SIM_RAID0,
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		for (int j = 0; j < sim->chunk_count; j++)
			if (!sim->chunks[j].gone && sim->chunks[j].kind == kind &&
			    sim->chunks[j].profile == order[i] &&
			    sim->device_count >= sim_rules[order[i]].devs_min)
				return order[i];
	return SIM_SINGLE;
}

/* Extents without redundancy may be in chunks of any profile. */
static bool may_hold(const struct sim *sim, int index, int from, enum sim_profile profile,
		     enum sim_fill fill)
{
	const struct sim_chunk *chunk = &sim->chunks[index];

	if (chunk->gone || index == from || chunk->kind != sim->chunks[from].kind)
		return false;
	if (profile != SIM_SINGLE && chunk->profile != profile)
		return false;
	if (fill == SIM_FILL_RIGHT)
		return (!chunk->old && !sim_misplaced(sim, chunk)) ||
		       sim_correctly_placed(sim, chunk);
	return fill == SIM_FILL_ANY || !sim_misplaced(sim, chunk);
}

static void pour(struct sim_chunk *from, struct sim_chunk *to)
{
	uint64_t space = to->length - to->used;
	uint64_t bytes = from->used < space ? from->used : space;

	to->used += bytes;
	from->used -= bytes;
}

bool sim_empty(struct sim *sim, int index, enum sim_fill fill, int (*chance)(int limit))
{
	struct sim_chunk *chunk = &sim->chunks[index];
	enum sim_profile profile = sim_next_profile(sim, chunk->kind);
	int count = sim->chunk_count, start = chance(count);

	for (int i = 0; i < count && chunk->used; i++) {
		int other = (start + i) % count;

		if (may_hold(sim, other, index, profile, fill))
			pour(chunk, &sim->chunks[other]);
	}
	while (chunk->used) {
		if (!sim_make(sim, chunk->kind, profile))
			return false;
		pour(chunk, &sim->chunks[sim->chunk_count - 1]);
	}
	return true;
}
