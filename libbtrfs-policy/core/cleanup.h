/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scope-bound cleanup: a variable marked with one of these releases its
 * resource when it goes out of scope.  Owns no types; each user defines the
 * function for its own type with BP_DEFINE_CLEANUP.
 */
#ifndef BP_CLEANUP_H
#define BP_CLEANUP_H

#include <stdlib.h>

#define BP_CLEANUP(func) __attribute__((cleanup(func)))

#define BP_DEFINE_CLEANUP(type, func)			\
	static inline void func##_at_end(type *p)	\
	{						\
		if (*p)					\
			func(*p);			\
	}						\
	struct bp_swallow_semicolon

static inline void bp_free_at_end(void *p)
{
	free(*(void **)p);
}

#define _cleanup_free_ BP_CLEANUP(bp_free_at_end)

/* Hand a pointer on and forget it, so that the cleanup does not free it. */
#define bp_steal(p)			\
({					\
	__typeof__(p) stolen_ = (p);	\
	(p) = NULL;			\
	stolen_;			\
})

#endif
