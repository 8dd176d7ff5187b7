/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of a plan.  Metadata moves as soon as it has space; until then data leaves
 * the devices that exclude it; then system, then the rest of the data.  By stripes the
 * most used chunk moves first, by relocation the least used one.  Chunks that differ
 * only in their used bytes are a class.  All need the same holes, so one of them is
 * tried by stripes, the most used, and one by relocation, the least used: if it does
 * not fit, none of them does.  So a plan takes about n log n.
 */
#include <string.h>

#include "balance/plan-state.h"

/* Above this many chunks not every order is tried when the usual one fails. */
#define SMALL 7

/* What is tried: only stripes; relocation, too; a second choice, too. */
enum { STRIPES, RELOCATION, SETTLE };

/* Phases */
enum { METADATA, SYSTEM, DATA_OFF_EXCLUDED, OTHER_DATA, PHASES };

struct class {
	uint32_t next, end;	/* in `order` */
	uint64_t used, logical;	/* of the one to try first, cached here for the heap */
};

struct search {
	struct bp_plan_state *state;
	uint32_t *order;	/* candidates: classes in a row, least used first in each */
	uint32_t count;
	struct class *classes;
	uint32_t class_count;
	/* Classes of each phase: a heap of `count` to try, followed by `stalled` others. */
	uint32_t *queues[PHASES];
	uint32_t counts[PHASES];
	uint32_t stalled[PHASES];
	uint32_t *queue_space;
};

/* ---- Classes ------------------------------------------------------------ */

static const struct btrfs_policy_chunk *chunk_at(const struct search *search, uint32_t at)
{
	return &search->state->placement->chunks[search->order[at]];
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static uint8_t may(const struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk)
{
	return state->may ? state->may[chunk - state->placement->chunks] : BP_MAY_MOVE;
}

static int by_class(const struct bp_plan_state *state, const struct btrfs_policy_chunk *a,
		    const struct btrfs_policy_chunk *b)
{
	int order = compare_u64(a->type, b->type);

	if (!order)
		order = compare_u64(may(state, a), may(state, b));
	if (!order)
		order = compare_u64(a->stripes, b->stripes);
	if (!order)
		order = compare_u64(a->stripe_length, b->stripe_length);
	for (uint32_t i = 0; !order && i < a->stripes; i++)
		order = compare_u64(a->devids[i], b->devids[i]);
	return order;
}

static int by_use(const struct btrfs_policy_chunk *a, const struct btrfs_policy_chunk *b)
{
	int order = compare_u64(a->used, b->used);

	return order ? order : compare_u64(a->logical, b->logical);
}

static int by_class_and_use(const void *a, const void *b, void *state)
{
	const struct btrfs_policy_chunk *chunks =
		((const struct bp_plan_state *)state)->placement->chunks;
	const struct btrfs_policy_chunk *left = &chunks[*(const uint32_t *)a];
	const struct btrfs_policy_chunk *right = &chunks[*(const uint32_t *)b];
	int order = by_class(state, left, right);

	return order ? order : by_use(left, right);
}

static int phase_of(const struct btrfs_policy_chunk *chunk)
{
	if (chunk->kind == BTRFS_POLICY_KIND_METADATA)
		return METADATA;
	if (chunk->kind == BTRFS_POLICY_KIND_SYSTEM)
		return SYSTEM;
	return chunk->misplaced == BTRFS_POLICY_ON_EXCLUDED ? DATA_OFF_EXCLUDED : OTHER_DATA;
}

static void scan_next(struct search *search, struct class *class)
{
	const struct btrfs_policy_chunk *chunk =
		chunk_at(search, search->state->no_stripes ? class->next : class->end - 1);

	class->used = chunk->used;
	class->logical = chunk->logical;
}

static void find_classes(struct search *search)
{
	for (uint32_t i = 0; i < search->count; i++) {
		struct class *class = &search->classes[search->class_count];

		if (i && !by_class(search->state, chunk_at(search, i - 1), chunk_at(search, i))) {
			class[-1].end++;
			scan_next(search, &class[-1]);
			continue;
		}
		search->class_count++;
		class->next = i;
		class->end = i + 1;
		scan_next(search, class);
		search->stalled[phase_of(chunk_at(search, i))]++;
	}
}

/* ---- Heaps -------------------------------------------------------------- */

static bool before(const struct search *search, uint32_t a, uint32_t b)
{
	const struct class *left = &search->classes[a], *right = &search->classes[b];

	if (left->used != right->used)
		return (left->used < right->used) == !!search->state->no_stripes;
	return left->logical < right->logical;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t keep = *a;

	*a = *b;
	*b = keep;
}

static void sift_down(const struct search *search, int phase)
{
	uint32_t *queue = search->queues[phase], count = search->counts[phase];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && before(search, queue[child + 1], queue[child]))
			child++;
		if (!before(search, queue[child], queue[at]))
			return;
		swap(&queue[child], &queue[at]);
		at = child;
	}
}

/* The one that stalled first is tried again. */
static void wake_one(struct search *search, int phase)
{
	uint32_t *queue = search->queues[phase], at = search->counts[phase]++;

	swap(&queue[at], &queue[at + search->stalled[phase]-- - 1]);
	while (at && before(search, queue[at], queue[(at - 1) / 2])) {
		swap(&queue[at], &queue[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

/* Removes the head from the heap: it stalls, or its class has no chunk left. */
static void drop_head(struct search *search, int phase, bool stall)
{
	uint32_t *queue = search->queues[phase], last = --search->counts[phase];

	swap(&queue[0], &queue[last]);
	if (stall)
		search->stalled[phase]++;
	else
		swap(&queue[last], &queue[last + search->stalled[phase]]);
	sift_down(search, phase);
}

/* ---- The search --------------------------------------------------------- */

/* 1 moved, 0 not */
static int try_head(struct search *search, int phase, int stage)
{
	struct class *class = &search->classes[search->queues[phase][0]];
	struct bp_plan_state *state = search->state;
	struct bp_tally before;
	int ret = BP_NOT_BETTER;

	if (!state->no_stripes)
		ret = bp_plan_move_stripes(state, search->order[class->end - 1], stage == SETTLE,
					   &before);
	if (!ret) {
		class->end--;
	} else if (ret > 0 && stage != STRIPES && !state->no_relocation) {
		ret = bp_plan_relocate(state, search->order[class->next], stage == SETTLE, &before);
		class->next += !ret;
	}
	if (ret)
		return ret < 0 ? ret : 0;
	if (class->next == class->end) {
		drop_head(search, phase, false);
	} else {
		scan_next(search, class);
		sift_down(search, phase);
	}
	return 1;
}

static int try_phases(struct search *search, int stage)
{
	static const int order[] = { METADATA, DATA_OFF_EXCLUDED, SYSTEM, OTHER_DATA };
	int ret = 0;

	for (size_t i = 0; !ret && i < PHASES; i++) {
		bool metadata = search->counts[METADATA] || search->stalled[METADATA];
		int phase = order[i];

		/* Data moves before system only to free space for metadata. */
		if (phase == DATA_OFF_EXCLUDED && !metadata)
			phase = SYSTEM;
		else if (phase == SYSTEM && !metadata)
			phase = DATA_OFF_EXCLUDED;
		/* Until one gives a chunk away; those that do not stall. */
		while (search->counts[phase] && !ret) {
			ret = try_head(search, phase, stage);
			if (!ret)
				drop_head(search, phase, true);
		}
	}
	return ret;
}

static void wake_everything(struct search *search)
{
	for (int phase = 0; phase < PHASES; phase++)
		while (search->stalled[phase])
			wake_one(search, phase);
}

/*
 * Stalled classes are tried again when no other chunk can move; one metadata class
 * after each move, so that metadata moves as soon as data has freed space.
 */
static int move_all(struct search *search)
{
	int stage = search->state->no_stripes ? RELOCATION : STRIPES;
	bool fresh = true;
	int ret = 0;

	while (ret >= 0) {
		ret = try_phases(search, stage);
		if (ret > 0) {
			fresh = false;
			if (stage == SETTLE)
				stage = RELOCATION;
			if (search->stalled[METADATA])
				wake_one(search, METADATA);
		} else if (!ret) {
			if (stage == SETTLE)
				return 0;
			stage += fresh;
			fresh = true;
			wake_everything(search);
		}
	}
	return ret;
}

/* ---- Beginning and end -------------------------------------------------- */

static void fill_queues(struct search *search)
{
	uint32_t *space = search->queue_space;

	for (int phase = 0; phase < PHASES; phase++) {
		search->queues[phase] = space;
		space += search->stalled[phase];
		search->stalled[phase] = 0;
	}
	for (uint32_t i = 0; i < search->class_count; i++) {
		int phase = phase_of(chunk_at(search, search->classes[i].next));

		search->queues[phase][search->stalled[phase]++] = i;
	}
	wake_everything(search);
}

static int prepare(struct search *search)
{
	const struct btrfs_policy_placement *placement = search->state->placement;

	search->order = calloc(placement->chunk_count + 1, sizeof(*search->order));
	search->classes = calloc(placement->chunk_count + 1, sizeof(*search->classes));
	search->queue_space = calloc(placement->chunk_count + 1, sizeof(*search->queue_space));
	if (!search->order || !search->classes || !search->queue_space)
		return -ENOMEM;
	for (size_t i = 0; i < placement->chunk_count; i++) {
		const struct btrfs_policy_chunk *chunk = &placement->chunks[i];

		if (may(search->state, chunk) >= BP_DEFERRED)
			continue;
		if (chunk->misplaced || !bp_correctly_placed(search->state, chunk))
			search->order[search->count++] = i;
	}
	qsort_r(search->order, search->count, sizeof(*search->order), by_class_and_use, search->state);
	find_classes(search);
	fill_queues(search);
	return 0;
}

/* The first chunk that is still misplaced at the end and was not moved. */
static const struct btrfs_policy_chunk *first_left(const struct search *search)
{
	const struct bp_plan_state *state = search->state;
	const struct btrfs_policy_chunk *first = NULL;

	for (uint32_t i = 0; i < search->class_count; i++) {
		const struct class *class = &search->classes[i];
		const struct btrfs_policy_chunk *chunk;

		if (class->next == class->end)
			continue;
		chunk = chunk_at(search, class->next);
		if (!bp_classify(state->candidates, state->candidate_count, chunk))
			continue;
		if (!first || phase_of(chunk) < phase_of(first) ||
		    (phase_of(chunk) == phase_of(first) && by_use(chunk, first) < 0))
			first = chunk;
	}
	return first;
}

/* Back to the snapshot. */
static int start_over(struct bp_plan_state *state)
{
	const struct bp_plan_state old = *state;
	int ret;

	bp_plan_state_clear(state);
	ret = bp_plan_state_init(state, old.placement);
	state->floor = old.floor;
	state->may = old.may;
	state->no_stripes = state->obstacle = old.no_stripes;
	state->no_relocation = old.no_relocation;
	return ret;
}

/* Drops moves that made room if no other chunk used it. */
static int drop_useless_moves(struct search *search, const struct btrfs_policy_chunk **left)
{
	const struct bp_plan_state *state = search->state;

	if (!state->now.moves || state->now.better)
		return 0;
	if (!*left)
		*left = &state->placement->chunks[state->moves[0].chunk];
	return start_over(search->state);
}

static int search_once(struct bp_plan_state *state, bool partial, char **blocked,
		       uint64_t *missing)
{
	const struct btrfs_policy_chunk *left = NULL;
	struct search search = { .state = state };
	int ret = prepare(&search);

	if (!ret)
		ret = move_all(&search);
	if (!ret)
		left = first_left(&search);
	if (!ret)
		ret = drop_useless_moves(&search, &left);
	if (!ret && left && !(partial && state->now.moves)) {
		/* The reason depends on the current state, so ask before other orders are tried. */
		*blocked = bp_plan_explain(state, left, missing);
		ret = *blocked ? 0 : -ENOMEM;
		if (!ret && search.count <= SMALL)
			ret = start_over(state) ?: bp_plan_search_small(state, search.order, search.count, 0);
		if (ret > 0) {
			free(bp_steal(*blocked));
			*missing = ret = 0;
		}
	}
	free(search.order);
	free(search.classes);
	free(search.queue_space);
	return ret;
}

/* Relocation needs less space: it fills free space in chunks and makes smaller ones. */
int bp_plan_search(struct bp_plan_state *state, bool partial, char **blocked, uint64_t *missing)
{
	int ret = search_once(state, partial, blocked, missing);

	if (ret || !*blocked || state->no_stripes || state->no_relocation)
		return ret;
	free(bp_steal(*blocked));
	*missing = 0;
	state->no_stripes = BTRFS_POLICY_TOO_TIGHT;
	ret = start_over(state);
	return ret ? ret : search_once(state, partial, blocked, missing);
}
