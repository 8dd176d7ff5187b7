/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tree of holes: a treap by address whose nodes also store the longest hole
 * below them.  Nodes are indices into one array, which may move when it
 * grows, so no pointer is valid after a call that adds.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/holes.h"

static void update(struct bp_holes *holes, uint32_t at)
{
	struct bp_hole *nodes = holes->nodes, *node = &nodes[at];

	node->longest = node->length;
	if (node->left && nodes[node->left].longest > node->longest)
		node->longest = nodes[node->left].longest;
	if (node->right && nodes[node->right].longest > node->longest)
		node->longest = nodes[node->right].longest;
}

/* Everything before `start` to *left, the rest to *right. */
static void split(struct bp_holes *holes, uint32_t at, uint64_t start, uint32_t *left,
		  uint32_t *right)
{
	if (!at) {
		*left = *right = 0;
	} else if (holes->nodes[at].start < start) {
		split(holes, holes->nodes[at].right, start, &holes->nodes[at].right, right);
		*left = at;
		update(holes, at);
	} else {
		split(holes, holes->nodes[at].left, start, left, &holes->nodes[at].left);
		*right = at;
		update(holes, at);
	}
}

static uint32_t join(struct bp_holes *holes, uint32_t left, uint32_t right)
{
	struct bp_hole *nodes = holes->nodes;

	if (!left || !right)
		return left ? left : right;
	if (nodes[left].weight > nodes[right].weight) {
		nodes[left].right = join(holes, nodes[left].right, right);
		update(holes, left);
		return left;
	}
	nodes[right].left = join(holes, left, nodes[right].left);
	update(holes, right);
	return right;
}

/* Two nodes are enough for any change, so that it cannot fail halfway. */
static int reserve(struct bp_holes *holes)
{
	uint32_t space = holes->space ? 2 * holes->space : 16;
	struct bp_hole *nodes;

	if (holes->space && holes->count + 2 <= holes->space)
		return 0;
	nodes = reallocarray(holes->nodes, space, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	holes->nodes = nodes;
	holes->space = space;
	holes->count = holes->count ? holes->count : 1;
	return 0;
}

static uint32_t new_node(struct bp_holes *holes, uint64_t start, uint64_t length)
{
	uint32_t at = holes->unused;

	if (at)
		holes->unused = holes->nodes[at].left;
	else
		at = holes->count++;
	holes->chance = holes->chance * 1664525u + 1013904223u;
	holes->nodes[at] = (struct bp_hole){
		.start = start, .length = length, .longest = length, .weight = holes->chance >> 4,
	};
	return at;
}

static void drop_node(struct bp_holes *holes, uint32_t at)
{
	holes->nodes[at].left = holes->unused;
	holes->unused = at;
}

/* Cut the last hole off a tree: its index, 0 if there is none. */
static uint32_t cut_last(struct bp_holes *holes, uint32_t *root)
{
	uint32_t at = *root, rest;

	if (!at)
		return 0;
	while (holes->nodes[at].right)
		at = holes->nodes[at].right;
	split(holes, *root, holes->nodes[at].start, root, &rest);
	return at;
}

static uint32_t cut_first(struct bp_holes *holes, uint32_t *root)
{
	uint32_t at = *root;

	if (!at)
		return 0;
	while (holes->nodes[at].left)
		at = holes->nodes[at].left;
	split(holes, *root, holes->nodes[at].start + 1, &at, root);
	return at;
}

/* The last hole before `start` and the first one that is not. */
static void find_neighbours(const struct bp_holes *holes, uint64_t start, uint32_t *before,
			    uint32_t *after)
{
	uint32_t at = holes->root;

	*before = *after = 0;
	while (at) {
		const struct bp_hole *node = &holes->nodes[at];

		if (node->start < start)
			*before = at;
		else
			*after = at;
		at = node->start < start ? node->right : node->left;
	}
}

/* Updates the nodes above a hole; it may have grown to the left, up to its neighbour. */
static void update_above(struct bp_holes *holes, uint32_t at, uint32_t changed)
{
	const struct bp_hole *nodes = holes->nodes;

	if (at != changed)
		update_above(holes, nodes[changed].start < nodes[at].start ? nodes[at].left :
				    nodes[at].right, changed);
	update(holes, at);
}

static uint32_t insert(struct bp_holes *holes, uint32_t at, uint32_t new)
{
	struct bp_hole *nodes = holes->nodes;

	if (!at || nodes[new].weight >= nodes[at].weight) {
		split(holes, at, nodes[new].start, &nodes[new].left, &nodes[new].right);
		update(holes, new);
		return new;
	}
	if (nodes[new].start < nodes[at].start)
		nodes[at].left = insert(holes, nodes[at].left, new);
	else
		nodes[at].right = insert(holes, nodes[at].right, new);
	update(holes, at);
	return at;
}

static uint32_t erase(struct bp_holes *holes, uint32_t at, uint32_t old)
{
	struct bp_hole *nodes = holes->nodes;

	if (at == old)
		return join(holes, nodes[old].left, nodes[old].right);
	if (nodes[old].start < nodes[at].start)
		nodes[at].left = erase(holes, nodes[at].left, old);
	else
		nodes[at].right = erase(holes, nodes[at].right, old);
	update(holes, at);
	return at;
}

/* Make a range free; holes next to it become one with it. */
int bp_holes_add(struct bp_holes *holes, uint64_t start, uint64_t length)
{
	struct bp_hole *nodes;
	uint32_t before, after;
	int ret = reserve(holes);

	if (ret || !length)
		return ret;
	nodes = holes->nodes;
	find_neighbours(holes, start, &before, &after);
	if (before && nodes[before].start + nodes[before].length == start) {
		if (after && nodes[after].start == start + length) {
			holes->root = erase(holes, holes->root, after);
			length += nodes[after].length;
			drop_node(holes, after);
		}
		nodes[before].length += length;
		update_above(holes, holes->root, before);
	} else if (after && nodes[after].start == start + length) {
		nodes[after].start = start;
		nodes[after].length += length;
		update_above(holes, holes->root, after);
	} else {
		holes->root = insert(holes, holes->root, new_node(holes, start, length));
	}
	return 0;
}

/* The parts of the hole outside of the range stay free. */
static uint32_t leave_rest(struct bp_holes *holes, uint32_t tree, uint32_t at, uint64_t start,
			   uint64_t end)
{
	const struct bp_hole hole = holes->nodes[at];

	drop_node(holes, at);
	if (hole.start < start)
		tree = join(holes, tree, new_node(holes, hole.start, start - hole.start));
	if (hole.start + hole.length > end)
		tree = join(holes, tree,
			    new_node(holes, end, hole.start + hole.length - end));
	return tree;
}

/* The usual case: the range is the beginning of a longer hole, which keeps its place. */
static bool take_beginning(struct bp_holes *holes, uint32_t at, uint64_t start, uint64_t length)
{
	struct bp_hole *node = &holes->nodes[at];
	bool taken = false;

	if (!at)
		return false;
	if (node->start == start && node->length > length) {
		node->start += length;
		node->length -= length;
		taken = true;
	} else if (node->start != start) {
		taken = take_beginning(holes, start < node->start ? node->left : node->right,
				       start, length);
	}
	if (taken)
		update(holes, at);
	return taken;
}

/* Take a range; parts of it that are not free are no matter. */
int bp_holes_take(struct bp_holes *holes, uint64_t start, uint64_t length)
{
	uint64_t end = start + length;
	uint32_t left, middle, right, at;
	int ret = reserve(holes);

	if (ret || end < start || take_beginning(holes, holes->root, start, length))
		return ret;
	split(holes, holes->root, end, &middle, &right);
	split(holes, middle, start, &left, &middle);
	at = cut_last(holes, &left);
	if (at && holes->nodes[at].start + holes->nodes[at].length > start)
		left = leave_rest(holes, left, at, start, end);
	else
		left = join(holes, left, at);
	while ((at = cut_first(holes, &middle)))
		left = leave_rest(holes, left, at, start, end);
	holes->root = join(holes, left, right);
	return 0;
}

uint64_t bp_holes_longest(const struct bp_holes *holes)
{
	return holes->root ? holes->nodes[holes->root].longest : 0;
}

/* Start and `whole` length of the first hole of that length; one that long must exist. */
uint64_t bp_holes_first(const struct bp_holes *holes, uint64_t length, uint64_t *whole)
{
	const struct bp_hole *nodes = holes->nodes;
	uint32_t at = holes->root;

	for (;;) {
		if (nodes[at].left && nodes[nodes[at].left].longest >= length)
			at = nodes[at].left;
		else if (nodes[at].length >= length)
			break;
		else
			at = nodes[at].right;
	}
	*whole = nodes[at].length;
	return nodes[at].start;
}

/*
 * Index of the first hole of that length that starts at `from` or behind, below the one
 * at index `at`; 0: none
 */
uint32_t bp_holes_next(const struct bp_holes *holes, uint32_t at, uint64_t from, uint64_t length)
{
	const struct bp_hole *node = &holes->nodes[at];
	uint32_t found = 0;

	if (!at || node->longest < length)
		return 0;
	if (node->start >= from)
		found = bp_holes_next(holes, node->left, from, length);
	if (!found && node->start >= from && node->length >= length)
		found = at;
	return found ? found : bp_holes_next(holes, node->right, from, length);
}

void bp_holes_clear(struct bp_holes *holes)
{
	free(holes->nodes);
	memset(holes, 0, sizeof(*holes));
}
