/* SPDX-License-Identifier: GPL-2.0-only */
/* For user space: what the tested files of scrub use of the header of this name. */
#ifndef UNIT_TIME64_H
#define UNIT_TIME64_H

#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_SEC	1000000000L

#endif
