/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random arrays for the simulator: devices, roles that were others once, chunks
 * where the allocator put them and where it never would.  A round is a seed.
 */
#include <string.h>

#include "sim.h"

#define MiB (1024ULL * 1024)
#define GiB (1024 * MiB)

static uint64_t seed;

int sim_below(int limit)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return limit > 0 ? (seed >> 33) % limit : 0;
}

static uint64_t between(uint64_t low, uint64_t high)
{
	return low + (uint64_t)sim_below(1000) * ((high - low) / 1000);
}

static void random_devices(struct sim *sim)
{
	uint64_t scale = (uint64_t[]){ GiB, 4 * GiB, 30 * GiB }[sim_below(3)];

	sim->device_count = 1 + sim_below(SIM_DEVICES);
	for (int i = 0; i < sim->device_count; i++) {
		sim->devices[i].size = between(scale / 4, scale) / MiB * MiB + MiB;
		sim->devices[i].role = sim_below(12) ? sim_below(4) : sim_below(6);
	}
}

static enum sim_profile random_profile(const struct sim *sim)
{
	enum sim_profile profile;

	do
		profile = sim_below(SIM_PROFILES);
	while (sim_rules[profile].devs_min > sim->device_count);
	return profile;
}

static uint64_t random_use(uint64_t length)
{
	switch (sim_below(6)) {
	case 0:
		return 0;
	case 1:
		return length;
	default:
		return (uint64_t)sim_below((int)(length / 4096)) * 4096;
	}
}

/* By the allocator, with whatever roles there are at the moment. */
static void add_allocated(struct sim *sim, enum sim_kind kind, enum sim_profile profile)
{
	if (sim_make(sim, kind, profile)) {
		struct sim_chunk *chunk = &sim->chunks[sim->chunk_count - 1];

		chunk->used = random_use(chunk->length);
	}
}

/* Anywhere: one device after the other from a random one on, shorter than usual. */
static void add_anywhere(struct sim *sim, enum sim_kind kind, enum sim_profile profile)
{
	const struct sim_rules *rules = &sim_rules[profile];
	struct sim_chunk chunk = { .kind = kind, .profile = profile };
	int devices = rules->devs_max ? rules->devs_max : rules->devs_min, at = sim_below(100);

	chunk.stripes = devices * rules->per_device;
	chunk.stripe_length = (1 + sim_below(kind == SIM_SYSTEM ? 4 : 60)) * 8 * MiB;
	chunk.length = chunk.stripe_length * ((chunk.stripes - rules->parity) / rules->copies);
	chunk.used = random_use(chunk.length);
	for (int i = 0; i < chunk.stripes; i++) {
		int device = (at + i / rules->per_device) % sim->device_count;
		uint64_t wanted = chunk.stripe_length * rules->per_device;

		if (sim_hole(&sim->devices[device], wanted, &chunk.offsets[i]) < wanted)
			return;
		chunk.devices[i] = device;
		chunk.offsets[i] += i % rules->per_device * chunk.stripe_length;
	}
	sim_put(sim, &chunk);
}

static void shuffle_roles(struct sim *sim)
{
	int keep[SIM_DEVICES];

	for (int i = 0; i < sim->device_count; i++)
		keep[i] = sim->devices[i].role;
	for (int i = 0; i < sim->device_count; i++)
		sim->devices[i].role = sim_below(2) ? 0 : keep[sim_below(sim->device_count)];
}

void sim_random(struct sim *sim, unsigned int round)
{
	enum sim_profile profiles[SIM_KINDS][2];
	int roles[SIM_DEVICES], chunks;

	seed = round * 0x9e3779b97f4a7c15ULL;
	chunks = sim_below(8) ? sim_below(40) : sim_below(9);
	memset(sim, 0, sizeof(*sim));
	random_devices(sim);
	for (int i = 0; i < sim->device_count; i++)
		roles[i] = sim->devices[i].role;
	for (int kind = 0; kind < SIM_KINDS; kind++) {
		profiles[kind][0] = random_profile(sim);
		profiles[kind][1] = sim_below(4) ? profiles[kind][0] : random_profile(sim);
	}
	shuffle_roles(sim);
	for (int i = 0; i < chunks; i++) {
		enum sim_kind kind = (enum sim_kind[]){ 0, 0, 0, 1, 1, 2 }[sim_below(6)];
		enum sim_profile profile = profiles[kind][sim_below(2)];

		if (sim_below(3))
			add_allocated(sim, kind, profile);
		else
			add_anywhere(sim, kind, profile);
		if (!sim_below(6) && sim->chunk_count)
			sim_remove(sim, sim->chunk_count - 1), sim->chunk_count--;
	}
	for (int i = 0; i < sim->device_count; i++)
		sim->devices[i].role = roles[i];
	for (int i = 0; i < sim->chunk_count; i++)
		sim->chunks[i].old = true;
}
