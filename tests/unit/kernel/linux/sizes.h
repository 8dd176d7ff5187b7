/* SPDX-License-Identifier: GPL-2.0-only */
/* For user space: what the tested files of scrub use of the header of this name. */
#ifndef UNIT_SIZES_H
#define UNIT_SIZES_H

#define SZ_256K		0x40000
#define SZ_512K		0x80000
#define SZ_1M		0x100000
#define SZ_4M		0x400000
#define SZ_32M		0x2000000

#endif
