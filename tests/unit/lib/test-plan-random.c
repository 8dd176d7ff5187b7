/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plans of random arrays, carried out in the simulator: no step runs out of space,
 * each has the predicted result, and where there is no plan no order works.
 * Usage: test-plan-random [FIRST-SEED [COUNT]]
 */
#include "sim.h"
#include "unit.h"

#define ROUNDS 2500
#define TRIED_IN_EVERY_ORDER 6

static unsigned int first_round = 1, rounds = ROUNDS;

static struct sim sim;

/* With a seed on the command line the array is shown. */
static void describe(void)
{
	for (int i = 0; i < sim.device_count; i++)
		print_message("# devid %d type %d: %llu of %llu MiB unallocated\n", i + 1,
			      sim.devices[i].role, sim_free(&sim.devices[i]) / MiB,
			      sim.devices[i].size / MiB);
	for (int i = 0; i < sim.chunk_count; i++) {
		const struct sim_chunk *chunk = &sim.chunks[i];

		print_message("# chunk %d kind %d profile %d: %llu of %llu MiB used%s, devids",
			      i, chunk->kind, chunk->profile, chunk->used / MiB,
			      chunk->length / MiB, sim_misplaced(&sim, chunk) ? ", misplaced" :
			      sim_correctly_placed(&sim, chunk) ? "" : ", not right");
		for (int j = 0; j < chunk->stripes; j++)
			print_message(" %d", chunk->devices[j] + 1);
		print_message("\n");
	}
}

static void describe_plan(const struct btrfs_policy_plan *plan)
{
	const struct btrfs_policy_step *step;

	for (size_t i = 0; (step = btrfs_policy_plan_step(plan, i)); i++) {
		print_message("# move %d (obstacle %d) to", (int)(step->chunk->logical >> 40) - 1,
			      step->obstacle);
		for (uint32_t j = 0; j < step->targets; j++)
			print_message(" %d", (int)step->target_devids[j]);
		print_message("\n");
	}
}

/* ---- Input of the planner ------------------------------------------------ */

static struct fake fake;
static struct btrfs_policy_fs *fs;

static uint64_t type_of(enum sim_kind kind, enum sim_profile profile)
{
	static const uint64_t kinds[] = { DATA, METADATA, SYSTEM };
	static const uint64_t flags[] = {
		[SIM_DUP] = DUP, [SIM_RAID0] = RAID0, [SIM_RAID1] = RAID1,
		[SIM_RAID1C3] = RAID1C3, [SIM_RAID1C4] = BTRFS_BLOCK_GROUP_RAID1C4,
		[SIM_RAID10] = RAID10, [SIM_RAID5] = BTRFS_BLOCK_GROUP_RAID5,
		[SIM_RAID6] = BTRFS_BLOCK_GROUP_RAID6,
	};

	return kinds[kind] | flags[profile];
}

static void show_chunk(struct btrfs_policy_placement *placement, int index)
{
	const struct sim_chunk *from = &sim.chunks[index];
	uint64_t *words = calloc(2 * from->stripes, sizeof(*words));
	struct btrfs_policy_chunk chunk = {
		.logical = (index + 1ULL) << 40, .length = from->length, .used = from->used,
		.type = type_of(from->kind, from->profile), .stripe_length = from->stripe_length,
		.stripes = from->stripes, .devids = words, .offsets = words + from->stripes,
	};

	chunk.kind = bp_kind_of(chunk.type);
	chunk.profile = bp_profile_of(chunk.type)->name;
	for (int i = 0; i < from->stripes; i++) {
		words[i] = from->devices[i] + 1;
		words[from->stripes + i] = from->offsets[i];
	}
	assert_int_equal(bp_placement_add_chunk(placement, &chunk), 0);
}

static struct btrfs_policy_placement *show(void)
{
	struct btrfs_policy_placement *placement = calloc(1, sizeof(*placement));

	placement->devices = calloc(sim.device_count, sizeof(*placement->devices));
	placement->candidates = calloc(sim.device_count, sizeof(*placement->candidates));
	placement->device_count = sim.device_count;
	for (int i = 0; i < sim.device_count; i++) {
		const struct sim_device *device = &sim.devices[i];

		placement->candidates[i] = (struct bp_candidate){
			.devid = i + 1, .role = bp_role_from_disk(device->role),
			.writeable = true, .size = device->size,
			.free_space = sim_free(device) - MiB,
		};
		placement->devices[i] = (struct btrfs_policy_device_usage){
			.devid = i + 1, .role = placement->candidates[i].role, .size = device->size,
			.unallocated = sim_free(device),
		};
	}
	for (int i = 0; i < sim.chunk_count; i++)
		if (!sim.chunks[i].gone)
			show_chunk(placement, i);
	assert_int_equal(bp_placement_sum(fs, placement), 0);
	return placement;
}

/* ---- The invariant ------------------------------------------------------ */

struct safety {
	bool spare[SIM_KINDS];
	uint64_t slack;
};

static bool has_spare(enum sim_kind kind)
{
	enum sim_profile profile = sim_next_profile(&sim, kind);
	int with_space = 0;

	for (int i = 0; i < sim.device_count; i++) {
		uint64_t useful = sim_useful(&sim, kind, profile);

		with_space += sim_rank(&sim.devices[i], kind) < 4 &&
			 sim_offer(&sim.devices[i], kind, useful) >= useful;
	}
	return with_space >= sim_rules[profile].devs_min;
}

/* The most bytes that can be stored with each copy on a device of its own. */
static uint64_t fits(uint64_t copies)
{
	uint64_t low = 0, high = 1ULL << 50;

	while (low < high) {
		uint64_t middle = (low + high + 1) / 2, sum = 0;

		for (int i = 0; i < sim.device_count; i++) {
			uint64_t kept = sim_kept(&sim.devices[i], SIM_METADATA);
			uint64_t space = sim_free(&sim.devices[i]);

			kept = kept < MiB ? MiB : kept;
			space = space > kept ? space - kept : 0;
			if (sim_rank(&sim.devices[i], SIM_METADATA) < 4)
				sum += space < middle ? space : middle;
		}
		if (sum >= copies * middle)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* `moving`: the chunk that is under way, whose free space is out of use; or -1 */
static struct safety look(int moving)
{
	const struct sim_rules *rules = &sim_rules[sim_next_profile(&sim, SIM_METADATA)];
	struct safety safety = {};
	bool metadata = false;

	for (int i = 0; i < sim.chunk_count; i++) {
		const struct sim_chunk *chunk = &sim.chunks[i];

		safety.spare[chunk->kind] = true;
		metadata |= chunk->kind == SIM_METADATA;
		if (chunk->gone)
			continue;
		if (chunk->kind == SIM_METADATA && i != moving)
			safety.slack += chunk->length - chunk->used;
	}
	for (int kind = 0; kind < SIM_KINDS; kind++)
		safety.spare[kind] = safety.spare[kind] && has_spare(kind);
	if (metadata)
		safety.slack += fits(rules->copies / rules->per_device + rules->parity) /
				rules->per_device;
	return safety;
}

/* Bytes by which rounding to whole copies may differ. */
#define ROUNDING 8

static bool as_safe(struct safety before, struct safety now, uint64_t floor)
{
	uint64_t least = before.slack < floor ? before.slack : floor;

	for (int kind = 0; kind < SIM_KINDS; kind++)
		if (before.spare[kind] && !now.spare[kind])
			return false;
	return now.slack + ROUNDING >= least;
}

/* ---- Carrying a plan out ------------------------------------------------ */

static unsigned int compared;

/*
 * Made chunks that may have to move later the kernel may fill or not; where there
 * are any, things may come otherwise than planned, and a run plans again.
 */
static bool is_exact(int moving)
{
	for (int i = 0; i < sim.chunk_count; i++) {
		const struct sim_chunk *chunk = &sim.chunks[i];

		if (!chunk->gone && chunk->kind == sim.chunks[moving].kind &&
		    chunk->used < chunk->length && !sim_correctly_placed(&sim, chunk) &&
		    !chunk->old)
			return false;
	}
	return true;
}

static void compare_spaces(unsigned int round, const struct btrfs_policy_step *step, bool done)
{
	compared += done;
	for (size_t i = 0; i < step->space_count; i++) {
		const struct btrfs_policy_step_space *space = &step->spaces[i];
		uint64_t real = sim_free(&sim.devices[space->devid - 1]);

		if (real != (done ? space->after : space->least))
			fail_msg("seed %u: devid %d has %llu, not %llu", round, (int)space->devid,
				 (unsigned long long)real,
				 (unsigned long long)(done ? space->after : space->least));
	}
}

static void copy_safely(unsigned int round, int index, enum sim_fill fill, uint64_t floor)
{
	struct safety before = look(-1);

	if (!sim_empty(&sim, index, fill, sim_below))
		fail_msg("seed %u: no space for chunk %d", round, index);
	if (!as_safe(before, look(index), floor))
		fail_msg("seed %u: chunk %d in two places is not safe", round, index);
}

static unsigned int by_stripes;

/* Off no device of the first choice, and to a place that is not misplaced. */
static void move_stripes(unsigned int round, const struct btrfs_policy_step *step, int index,
			 uint64_t floor)
{
	int off = sim_off_first(&sim, &sim.chunks[index]), devices[SIM_STRIPES];
	bool excluded = sim_excluded(&sim, &sim.chunks[index]);
	struct safety before = look(-1);
	struct sim_chunk to;

	for (uint32_t i = 0; i < step->targets; i++) {
		devices[i] = (int)step->target_devids[i] - 1;
		if (devices[i] != sim.chunks[index].devices[i] &&
		    !sim_rank(&sim.devices[sim.chunks[index].devices[i]], sim.chunks[index].kind))
			fail_msg("seed %u: a stripe of chunk %d leaves a first choice", round, index);
	}
	if (!sim_copy_stripes(&sim, index, devices, &to))
		fail_msg("seed %u: no space for stripes of chunk %d", round, index);
	if (!as_safe(before, look(index), floor))
		fail_msg("seed %u: chunk %d with stripes in two places is not safe", round, index);
	compare_spaces(round, step, false);
	sim_switch_stripes(&sim, index, &to);
	if (sim_misplaced(&sim, &sim.chunks[index]) ||
	    (!excluded && sim_off_first(&sim, &sim.chunks[index]) >= off))
		fail_msg("seed %u: chunk %d is no better", round, index);
	by_stripes++;
}

static void take_step(unsigned int round, const struct btrfs_policy_step *step, uint64_t floor)
{
	int index = (int)(step->chunk->logical >> 40) - 1;
	struct safety before = look(-1);

	if (!sim_misplaced(&sim, &sim.chunks[index]))
		fail_msg("seed %u: chunk %d is not misplaced", round, index);
	if (step->obstacle) {
		copy_safely(round, index, SIM_FILL_RIGHT, floor);
		compare_spaces(round, step, false);
		sim_remove(&sim, index);
	} else {
		move_stripes(round, step, index, floor);
	}
	if (!as_safe(before, look(-1), floor))
		fail_msg("seed %u: not safe after chunk %d", round, index);
	compare_spaces(round, step, true);
}

static unsigned int rebuilt, meagre;

/* Where metadata had less slack than the floor it has that much in the end, almost always. */
static void count_slack(const struct btrfs_policy_plan *plan)
{
	const struct btrfs_policy_plan_summary *sum = btrfs_policy_plan_summary(plan);
	uint64_t slack = look(-1).slack;
	bool metadata = false;

	for (int i = 0; i < sim.chunk_count; i++)
		metadata |= sim.chunks[i].kind == SIM_METADATA;
	if (!metadata || !sum->steps)
		return;
	meagre += slack + ROUNDING < sum->slack_floor;
	rebuilt += sum->slack_before < sum->slack_floor && slack >= sum->slack_floor;
}

static void carry_out(unsigned int round, const struct btrfs_policy_plan *plan)
{
	uint64_t floor = btrfs_policy_plan_summary(plan)->slack_floor;
	const struct btrfs_policy_step *step;
	int first = sim.chunk_count;

	for (size_t i = 0; (step = btrfs_policy_plan_step(plan, i)); i++) {
		if (!is_exact((int)(step->chunk->logical >> 40) - 1))
			return;
		take_step(round, step, floor);
	}
	/* A better place of one that has moved may have got space later, which is for another round. */
	for (int i = 0; i < first; i++)
		if (!sim.chunks[i].gone && sim.chunks[i].old && sim_misplaced(&sim, &sim.chunks[i]))
			fail_msg("seed %u: chunk %d is left", round, i);
	count_slack(plan);
}

/* ---- No order at all? --------------------------------------------------- */

/* Is the chunk on a device of the first choice that has no space for another stripe? */
static bool in_the_way(const struct sim_chunk *old)
{
	bool found = false;

	for (int i = 0; i < old->stripes; i++) {
		const struct sim_device *device = &sim.devices[old->devices[i]];

		found |= !sim_rank(device, old->kind) &&
			 sim_offer(device, old->kind, old->stripe_length) < old->stripe_length;
	}
	return found;
}

/* 2 better, 1 as good, but it makes room, 0 neither */
static int better_place(const struct sim_chunk *made, const struct sim_chunk *old, bool excluded)
{
	int made_off = sim_off_first(&sim, made) * sim_rules[made->profile].per_device;
	int old_off = sim_off_first(&sim, old) * sim_rules[old->profile].per_device;

	if (!made_off || excluded || made_off * old->stripes < old_off * made->stripes)
		return 2;
	return made_off * old->stripes == old_off * made->stripes && in_the_way(old);
}

/* Move a chunk by the rules that bind the planner: as better_place(); 0: they do not allow it. */
static int move_by_the_rules(int index, uint64_t floor)
{
	bool excluded = sim_excluded(&sim, &sim.chunks[index]);
	struct safety before = look(-1);
	int made = sim.chunk_count, worst = 2;

	if (!sim_misplaced(&sim, &sim.chunks[index]) ||
	    !sim_empty(&sim, index, SIM_FILL_RIGHT, sim_below))
		return 0;
	for (; made < sim.chunk_count; made++) {
		int better = better_place(&sim.chunks[made], &sim.chunks[index], excluded);

		worst = better < worst ? better : worst;
	}
	if (!worst || !as_safe(before, look(index), floor))
		return 0;
	sim_remove(&sim, index);
	return as_safe(before, look(-1), floor) ? worst : 0;
}

/* At least one has to get a better place. */
static bool some_order_works(const int *chunks, int count, uint64_t floor, bool better)
{
	struct sim *keep = malloc(sizeof(sim));
	bool found = better;

	for (int i = 0; i < count; i++)
		found = found && (sim.chunks[chunks[i]].gone ||
				  !sim_misplaced(&sim, &sim.chunks[chunks[i]]));
	*keep = sim;
	if (found && rounds == 1)
		describe();
	for (int i = 0; !found && i < count; i++) {
		int moved = sim.chunks[chunks[i]].gone ? 0 : move_by_the_rules(chunks[i], floor);

		if (moved)
			found = some_order_works(chunks, count, floor, better || moved == 2);
		if (found && rounds == 1)
			print_message("# from behind: chunk %d\n", chunks[i]);
		sim = *keep;
	}
	free(keep);
	return found;
}

static bool check_refusal(unsigned int round, const struct btrfs_policy_plan *plan)
{
	int chunks[TRIED_IN_EVERY_ORDER], count = 0;

	assert_null(btrfs_policy_plan_step(plan, 0));
	if (!btrfs_policy_plan_summary(plan)->short_bytes)
		fail_msg("seed %u: '%s' names no bytes", round, btrfs_policy_plan_blocked(plan));
	for (int i = 0; i < sim.chunk_count; i++) {
		if (sim.chunks[i].gone || sim_correctly_placed(&sim, &sim.chunks[i]))
			continue;
		if (count == TRIED_IN_EVERY_ORDER)
			return false;
		chunks[count++] = i;
	}
	if (some_order_works(chunks, count, btrfs_policy_plan_summary(plan)->slack_floor, false))
		fail_msg("seed %u: '%s', but an order works", round,
			 btrfs_policy_plan_blocked(plan));
	return true;
}

/* ---- The tests ---------------------------------------------------------- */

static int setup(void **state)
{
	fake_init(&fake, FAKE_OURS);
	fake_can_move_stripes(&fake);
	fake_add_device(&fake, GiB, DISK_DATA, true);
	fs = fake_open(&fake);
	print_message("seeds %u to %u\n", first_round, first_round + rounds - 1);
	return 0;
}

static int teardown(void **state)
{
	btrfs_policy_fs_unref(fs);
	return 0;
}

static void start_round(unsigned int round)
{
	sim_random(&sim, round);
	if (rounds == 1)
		describe();
}

/* What can be done by relocation alone can be done. */
static void relocation_is_blocked(unsigned int round, const struct btrfs_policy_placement *placement)
{
	const struct btrfs_policy_balance_options options = {
		.size = sizeof(options), .method = BTRFS_POLICY_METHOD_RELOCATE,
	};
	struct btrfs_policy_plan *plan;

	assert_int_equal(btrfs_policy_plan_new(fs, placement, &options, &plan), 0);
	if (!btrfs_policy_plan_blocked(plan))
		fail_msg("seed %u: relocation alone has an order", round);
	btrfs_policy_plan_free(plan);
}

static void keep_their_promise(enum btrfs_policy_method method)
{
	const struct btrfs_policy_balance_options options = {
		.size = sizeof(options), .method = method,
	};
	unsigned int planned = 0, steps = 0, refused = 0, tried = 0;

	for (unsigned int round = first_round; round < first_round + rounds; round++) {
		struct btrfs_policy_placement *placement;
		struct btrfs_policy_plan *plan;

		start_round(round);
		placement = show();
		assert_int_equal(btrfs_policy_plan_new(fs, placement, &options, &plan), 0);
		if (btrfs_policy_plan_blocked(plan) && method == BTRFS_POLICY_METHOD_AUTO)
			relocation_is_blocked(round, placement);
		btrfs_policy_placement_free(placement);
		planned += !!btrfs_policy_plan_summary(plan)->steps;
		steps += btrfs_policy_plan_summary(plan)->steps;
		refused += !!btrfs_policy_plan_blocked(plan);
		if (rounds == 1)
			describe_plan(plan);
		if (btrfs_policy_plan_blocked(plan))
			tried += check_refusal(round, plan);
		else
			carry_out(round, plan);
		btrfs_policy_plan_free(plan);
	}
	print_message("%u plans of %u steps, %u of them carried out and right to the byte; %u refusals, %u of them tried in every order\n",
		      planned, steps, compared, refused, tried);
	print_message("metadata had too little slack before %u plans and has enough behind them; behind %u it has not\n",
		      rebuilt, meagre);
	/* Else the arrays are not random enough to show anything. */
	assert_true(rounds < ROUNDS || (planned > ROUNDS / 5 && tried > ROUNDS / 20));
	assert_true(rounds < ROUNDS || compared > steps / 5 * 4);
}

static void plans_keep_their_promise(void **state)
{
	keep_their_promise(BTRFS_POLICY_METHOD_RELOCATE);
	assert_int_equal(by_stripes, 0);
}

/* By stripes where that can be. */
static void so_do_those_of_stripes(void **state)
{
	compared = rebuilt = meagre = 0;
	keep_their_promise(BTRFS_POLICY_METHOD_AUTO);
	print_message("%u chunks moved by their stripes\n", by_stripes);
	assert_true(rounds < ROUNDS || by_stripes > ROUNDS);
}

static uint64_t first_picture;

/* 1 stepped, 0 no step left, -1 no plan any more */
static int replan_and_step(unsigned int round)
{
	struct btrfs_policy_placement *placement = show();
	const struct btrfs_policy_balance_options relocation = {
		.method = BTRFS_POLICY_METHOD_RELOCATE,
	};
	uint8_t *may = calloc(placement->chunk_count + 1, sizeof(*may));
	const struct btrfs_policy_step *step;
	struct btrfs_policy_plan *plan;
	int result = 0;

	assert_non_null(may);
	for (size_t i = 0; i < placement->chunk_count; i++)
		may[i] = placement->chunks[i].logical > first_picture ? BP_FIXED : BP_MAY_MOVE;
	assert_int_equal(bp_plan_new(fs, placement, &relocation, 0, may, false, &plan), 0);
	free(may);
	step = btrfs_policy_plan_step(plan, 0);
	if (step) {
		int index = (int)(step->chunk->logical >> 40) - 1;

		copy_safely(round, index, sim_below(2) ? SIM_FILL_ANY : SIM_FILL_PLACED, 0);
		sim_remove(&sim, index);
		result = 1;
	} else if (btrfs_policy_plan_blocked(plan)) {
		result = -1;
	}
	btrfs_policy_placement_free(placement);
	btrfs_policy_plan_free(plan);
	return result;
}

/* On a kernel that fills whatever it finds, with a new plan after each chunk. */
static void new_plans_find_space_too(void **state)
{
	unsigned int done = 0, stopped = 0;

	for (unsigned int round = first_round; round < first_round + rounds; round += 5) {
		int ret, steps = 0;

		start_round(round);
		first_picture = (uint64_t)sim.chunk_count << 40;
		while ((ret = replan_and_step(round)) > 0)
			assert_true(++steps <= SIM_CHUNKS);
		done += !ret && steps;
		stopped += ret < 0 && steps;
	}
	print_message("%u runs to the end, %u stopped on the way for lack of space\n", done,
		      stopped);
	assert_true(rounds < ROUNDS || done > ROUNDS / 25);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_keep_their_promise),
		cmocka_unit_test(so_do_those_of_stripes),
		cmocka_unit_test(new_plans_find_space_too),
	};

	if (argc > 1)
		first_round = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		rounds = strtoul(argv[2], NULL, 10);
	else if (argc > 1)
		rounds = 1;
	return cmocka_run_group_tests(tests, setup, teardown);
}
