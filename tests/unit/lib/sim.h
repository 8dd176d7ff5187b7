/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A second model of the kernel: chunk allocation and the relocation of one chunk,
 * written from the kernel's rules and not from the library, with which it shares no
 * code.  Small arrays, plain loops, state that is copied whole.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_DEVICES 12
#define SIM_CHUNKS 200
#define SIM_EXTENTS 260
#define SIM_STRIPES 12

enum sim_kind { SIM_DATA, SIM_METADATA, SIM_SYSTEM, SIM_KINDS };

enum sim_profile {
	SIM_SINGLE, SIM_DUP, SIM_RAID0, SIM_RAID1, SIM_RAID1C3, SIM_RAID1C4, SIM_RAID10,
	SIM_RAID5, SIM_RAID6, SIM_PROFILES
};

struct sim_extent {
	uint64_t start, end;
};

struct sim_device {
	uint64_t size;
	int role;		/* as on disk: 0 to 5 */
	int extent_count;
	struct sim_extent extents[SIM_EXTENTS]; /* used ones, ascending */
};

struct sim_chunk {
	enum sim_kind kind;
	enum sim_profile profile;
	uint64_t length, used, stripe_length;
	int stripes;
	int devices[SIM_STRIPES];
	uint64_t offsets[SIM_STRIPES];
	bool gone, old;		/* old: part of the first snapshot */
};

struct sim {
	struct sim_device devices[SIM_DEVICES];
	int device_count;
	struct sim_chunk chunks[SIM_CHUNKS];
	int chunk_count;
};

/* The free space in chunks that a relocation may use. */
enum sim_fill {
	SIM_FILL_RIGHT,	/* correctly placed or new chunks: the ones that a plan uses */
	SIM_FILL_PLACED, /* those that are not misplaced: a kernel that passes over the others */
	SIM_FILL_ANY,	/* whatever comes first: one that does not */
};

struct sim_rules {
	int devs_min, devs_max, step, copies, parity, per_device;
};

extern const struct sim_rules sim_rules[SIM_PROFILES];

/* All of these: true if it could be done. */
bool sim_pick(const struct sim *sim, enum sim_kind kind, enum sim_profile profile,
	      struct sim_chunk *chunk);
bool sim_make(struct sim *sim, enum sim_kind kind, enum sim_profile profile);
bool sim_put(struct sim *sim, struct sim_chunk *chunk);
/*
 * First half: the data of `index` moves, which leaves it empty; second half: it is
 * freed.  `chance` gives random numbers below its argument.
 */
bool sim_empty(struct sim *sim, int index, enum sim_fill fill, int (*chance)(int limit));
void sim_remove(struct sim *sim, int index);
/*
 * The same for a chunk whose stripes move to those devices: its new places become `to`,
 * then the old ones are freed.
 */
bool sim_copy_stripes(struct sim *sim, int index, const int *devices, struct sim_chunk *to);
void sim_switch_stripes(struct sim *sim, int index, const struct sim_chunk *to);

/* 0 first choice, 1 second, 2 below the minimum, 3 last resort, 4 never */
int sim_rank(const struct sim_device *device, enum sim_kind kind);
enum sim_profile sim_next_profile(const struct sim *sim, enum sim_kind kind);
bool sim_misplaced(const struct sim *sim, const struct sim_chunk *chunk);
bool sim_excluded(const struct sim *sim, const struct sim_chunk *chunk);
bool sim_correctly_placed(const struct sim *sim, const struct sim_chunk *chunk);
int sim_off_first(const struct sim *sim, const struct sim_chunk *chunk);
uint64_t sim_free(const struct sim_device *device);
uint64_t sim_hole(const struct sim_device *device, uint64_t wanted, uint64_t *start);
/* Bytes that chunks of the kind leave alone on the device. */
uint64_t sim_kept(const struct sim_device *device, enum sim_kind kind);
/* Bytes of a hole of the device, as `sim_hole()` finds it, that such a chunk gets. */
uint64_t sim_offer(const struct sim_device *device, enum sim_kind kind, uint64_t wanted);
uint64_t sim_useful(const struct sim *sim, enum sim_kind kind, enum sim_profile profile);

/* sim-random.c: the array of a round; random numbers below a limit, which go on from there */
void sim_random(struct sim *sim, unsigned int round);
int sim_below(int limit);

#endif
