// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that shows what the kernel's build of device-role-core.c makes of
 * random arrays, one line each, in /proc/role-arrays.  For test-role-core.sh only:
 * nothing of btrfs runs, and it is never installed.
 */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "device-role-core.h"
#include "role-arrays.h"

#define ARRAYS 10000

static int role_arrays_show(struct seq_file *out, void *unused)
{
	for (u64 seed = 1; seed <= ARRAYS; seed++) {
		struct role_array array;
		struct role_result result;

		role_array_make(&array, seed);
		role_array_run(&array, &result);
		seq_printf(out, "%llu %016llx\n", seed, role_result_digest(&result));
	}
	return 0;
}

static int __init role_arrays_init(void)
{
	return proc_create_single("role-arrays", 0444, NULL, role_arrays_show) ? 0 : -ENOMEM;
}

static void __exit role_arrays_exit(void)
{
	remove_proc_entry("role-arrays", NULL);
}

module_init(role_arrays_init);
module_exit(role_arrays_exit);
MODULE_DESCRIPTION("device-role-core.c over random arrays");
MODULE_LICENSE("GPL");
