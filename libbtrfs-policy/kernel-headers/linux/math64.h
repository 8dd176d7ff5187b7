/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stands in for the kernel's header of this name, see ../volumes.h. */
#ifndef BP_KERNEL_MATH64_H
#define BP_KERNEL_MATH64_H

static inline unsigned long long div_u64(unsigned long long dividend, unsigned int divisor)
{
	return dividend / divisor;
}

#endif
