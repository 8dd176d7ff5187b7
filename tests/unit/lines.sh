#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How large the kernel code is: lines that a topic adds to a stock kernel, hooks and
# comments included, and all that is in kernel/.
set -uo pipefail

cd "${top_srcdir:?}" || exit 1
. tests/tap.sh

# lines TOPIC KERNEL FILE...: added by the hooks, and in the files that enter with them
lines() {
	local topic=$1 kernel=$2
	shift 2
	cat kernel/"$kernel"/"$topic"/*.patch | grep '^+' | grep -v '^+++ ' | cat - "$@" | wc -l
}

for kernel in 6.12 7.3; do
	added=$(lines roles $kernel kernel/fs/btrfs/device-role*.[ch])
	[ "$added" -gt 1000 ] && [ "$added" -le 2000 ]
	result $? "roles add $added of 2000 lines to $kernel"
	added=$(lines base $kernel kernel/fs/btrfs/tree-readahead.[ch] kernel/fs/btrfs/compat.h)
	[ "$added" -gt 100 ] && [ "$added" -le 300 ]
	result $? "base adds $added of 300 lines to $kernel"
done
all=$(find kernel -type f -exec cat {} + | wc -l)
[ "$all" -gt 5000 ] && [ "$all" -le 20000 ]
result $? "kernel/ has $all of 20000 lines"
done_testing
