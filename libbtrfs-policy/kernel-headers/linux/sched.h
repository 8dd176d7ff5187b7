/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stands in for the kernel's header of this name, see ../volumes.h. */
#ifndef BP_KERNEL_SCHED_H
#define BP_KERNEL_SCHED_H

/* User space is always preempted. */
static inline void cond_resched(void)
{
}

#endif
