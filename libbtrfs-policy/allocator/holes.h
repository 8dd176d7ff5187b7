/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The unallocated extents of one device, ordered by address, so that the first
 * hole that is large enough is found in logarithmic time.  Stores no contents of the
 * allocated extents.
 */
#ifndef BP_HOLES_H
#define BP_HOLES_H

#include <stdint.h>

struct bp_hole {
	uint64_t start;
	uint64_t length;
	uint64_t longest;	/* of this one and those below it in the tree */
	uint32_t left, right;	/* indices, 0: none */
	uint32_t weight;	/* random; a parent's is not less than a child's */
};

struct bp_holes {
	struct bp_hole *nodes;	/* the first is not used */
	uint32_t count, space;
	uint32_t root;
	uint32_t unused;	/* list of given back nodes, along `left` */
	uint32_t chance;
};

int bp_holes_add(struct bp_holes *holes, uint64_t start, uint64_t length);
int bp_holes_take(struct bp_holes *holes, uint64_t start, uint64_t length);
uint64_t bp_holes_longest(const struct bp_holes *holes);
uint64_t bp_holes_first(const struct bp_holes *holes, uint64_t length, uint64_t *whole);
uint32_t bp_holes_next(const struct bp_holes *holes, uint32_t at, uint64_t from, uint64_t length);
void bp_holes_clear(struct bp_holes *holes);

#endif
