/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State shared by the files of a plan: a simulated file system in which chunks are
 * moved and moved back, and the record of these moves.
 */
#ifndef BP_PLAN_STATE_H
#define BP_PLAN_STATE_H

#include "allocator/array.h"
#include "balance/plan.h"

#define BP_PROFILES 9

/* The reason why a chunk cannot be moved in the present state. */
enum {
	BP_MOVABLE = 0,
	BP_NO_PLACE,	/* the allocator finds no space for the chunk's data */
	BP_NOT_BETTER,	/* it finds space, but on no better devices */
	BP_NO_SPARE,	/* too little space would be left for another chunk of some kind */
	BP_NO_SLACK,	/* metadata would be left with too little to grow into */
};

#define BP_SECOND_CHOICES 4

/* All chunks of one kind, by profile; the arrays go by the table in profiles.c. */
struct bp_stock {
	uint64_t flags;
	uint64_t type;			/* of the next chunk that is made */
	uint64_t profiles;		/* flags of those that exist */
	uint32_t chunks[BP_PROFILES];
	uint64_t free_placed[BP_PROFILES];	/* free bytes in correctly placed chunks */
	uint32_t newest[BP_PROFILES];	/* the one made last, from 1; 0: none */
	/* Chunks made as well placed as possible then, but not best, that have free bytes. */
	uint32_t second_choices[BP_SECOND_CHOICES];		/* in `made` */
	uint64_t second_choice_bytes[BP_SECOND_CHOICES];	/* 0: none */
};

/* The values that a move changes and an undo restores. */
struct bp_tally {
	struct bp_stock stocks[BTRFS_POLICY_KINDS];
	uint32_t spare;			/* bits of the kinds of which one more chunk can be made */
	uint64_t slack;			/* bytes that metadata can still take */
	uint64_t metadata_free;		/* bytes free in metadata chunks */
	size_t made, moves, spaces;	/* entries of the arrays of the state */
	size_t better;			/* moves but those that only make room */
};

struct bp_move {
	uint32_t chunk;			/* index in the placement */
	enum btrfs_policy_obstacle obstacle;
	uint32_t target;		/* in `made`, from 1; 0: chunks that exist */
	size_t made;			/* entries of `made` before the step */
	size_t spaces, space_count;	/* entries of `spaces` */
};

struct bp_plan_state {
	const struct btrfs_policy_placement *placement;
	struct bp_candidate *candidates;
	size_t candidate_count;
	uint64_t *stripe_data;		/* devids and offsets of the chunk allocated last */
	struct bp_tally now;
	struct btrfs_policy_chunk *made;	/* each with its own devids and offsets */
	struct bp_move *moves;
	struct btrfs_policy_step_space *spaces;	/* without the first MiB */
	size_t made_space, move_space, space_space;
	uint64_t floor;			/* the slack that is to be kept */
	uint64_t worth[BTRFS_POLICY_KINDS][BP_PROFILES];
	/* A chunk on empty devices: its stripes (0: none can be made), those off the first choice. */
	uint32_t best_stripes[BTRFS_POLICY_KINDS][BP_PROFILES];
	uint32_t best_off[BTRFS_POLICY_KINDS][BP_PROFILES];
	uint64_t *free_spaces;		/* two for each candidate, of the step under way */
	bool makes_room;		/* the step under way: only that */
	enum btrfs_policy_obstacle no_stripes;	/* of all chunks */
	enum btrfs_policy_obstacle obstacle;	/* of the chunk tried last */
	bool no_relocation;
	const uint8_t *may;		/* see plan.h; NULL: all */
	enum btrfs_policy_kind short_kind; /* with BP_NO_SPARE */
	uint64_t short_slack;		/* with BP_NO_SLACK: bytes below the floor */
};

/* plan-state.c */
uint32_t bp_plan_writeable(const struct bp_plan_state *state);
int bp_plan_state_init(struct bp_plan_state *state,
		       const struct btrfs_policy_placement *placement);
void bp_plan_state_clear(struct bp_plan_state *state);
bool bp_is_best(const struct bp_plan_state *state, uint64_t type, const uint64_t *devids,
		uint32_t stripes);
bool bp_correctly_placed(const struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk);
uint32_t bp_profile_index(uint64_t type);

/*
 * plan-stripes.c: devids and offsets of the chunk with its misplaced stripes on better
 * devices, in `stripe_data`, behind them those of the moved stripes, the new ones and the
 * old ones.  The new extents are allocated.  Returns as bp_plan_move() and sets `obstacle`.
 */
int bp_plan_place_stripes(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
			  uint64_t *stripe_data, uint32_t *moved);

/*
 * plan-move.c: BP_MOVABLE, the reason why not, or -ENOMEM.  `settle`: accept a second
 * choice for a chunk on a device that excludes it, and a place as good as the old one
 * if that makes room.  `before` receives the state for
 * bp_plan_move_back(), to be called for the last move first.
 */
int bp_plan_relocate(struct bp_plan_state *state, uint32_t chunk, bool settle,
		     struct bp_tally *before);
int bp_plan_move_stripes(struct bp_plan_state *state, uint32_t chunk, bool settle,
			 struct bp_tally *before);
/* By stripes, else by relocation. */
int bp_plan_move(struct bp_plan_state *state, uint32_t chunk, bool settle,
		 struct bp_tally *before);
int bp_plan_move_back(struct bp_plan_state *state, const struct bp_tally *before);

/* plan-safety.c */
void bp_plan_scan(struct bp_plan_state *state);
uint64_t bp_plan_floor(const struct bp_plan_state *state, uint64_t reserve);
int bp_plan_is_safe(struct bp_plan_state *state, const struct bp_tally *before);

/*
 * plan-search.c: fills state->moves, or says in `blocked` (to be freed, after a failure
 * too) why there is no safe order, and in `missing` for want of how many bytes
 */
int bp_plan_search(struct bp_plan_state *state, bool partial, char **blocked,
		   uint64_t *missing);

/*
 * plan-search-small.c: every order of a few chunks, those in `moved` (bits) left out;
 * 1 found, 0 there is none
 */
int bp_plan_search_small(struct bp_plan_state *state, const uint32_t *chunks, size_t count,
			 uint32_t moved);

/* plan-explain.c */
char *bp_plan_explain(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		      uint64_t *missing);

#endif
