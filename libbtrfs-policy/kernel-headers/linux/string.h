/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stands in for the kernel's header of this name, see ../volumes.h. */
#include <string.h>
