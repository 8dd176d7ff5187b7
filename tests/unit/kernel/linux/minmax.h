/* SPDX-License-Identifier: GPL-2.0-only */
/* For user space: what the tested files of scrub use of the header of this name. */
#ifndef UNIT_MINMAX_H
#define UNIT_MINMAX_H

#define min(a, b)	((a) < (b) ? (a) : (b))
#define min_t(t, a, b)	((t)(a) < (t)(b) ? (t)(a) : (t)(b))
#define max_t(t, a, b)	((t)(a) > (t)(b) ? (t)(a) : (t)(b))
#define clamp_t(t, v, lo, hi)	min_t(t, max_t(t, v, lo), hi)

#endif
