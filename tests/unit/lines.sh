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

# raid56_hooks KERNEL: lines added to scrub by hunks that have to do with RAID56, whole hunks
raid56_hooks() {
	cat kernel/"$1"/scrub-send/*-scrub-*.patch | awk '
		function flush() { if (raid) sum += added; raid = added = 0 }
		/^diff |^@@/ { flush(); next }
		/^[+]/ && !/^[+][+][+] / { added++ }
		/^[+].*(raid56|RAID56|scrub_(scan|bg_start|pause_o|wait_for)|missing device|error_records|>errors)/ { raid = 1 }
		END { flush(); print sum }'
}

for kernel in 6.12 7.3; do
	added=$(lines roles $kernel kernel/fs/btrfs/device-role*.[ch])
	[ "$added" -gt 1000 ] && [ "$added" -le 2000 ]
	result $? "roles add $added of 2000 lines to $kernel"
	added=$(lines base $kernel kernel/fs/btrfs/tree-readahead.[ch] kernel/fs/btrfs/compat.h)
	[ "$added" -gt 100 ] && [ "$added" -le 300 ]
	result $? "base adds $added of 300 lines to $kernel"
	added=$(cat kernel/$kernel/scrub-send/*-send-*.patch | grep '^+' | grep -v '^+++ ' |
		cat - kernel/fs/btrfs/send-*.[ch] | wc -l)
	[ "$added" -gt 500 ] && [ "$added" -le 700 ]
	result $? "send adds $added of 700 lines to $kernel"
	added=$(lines move-stripe $kernel kernel/fs/btrfs/move-stripe.[ch])
	[ "$added" -gt 500 ] && [ "$added" -le 800 ]
	result $? "move-stripe adds $added of 800 lines to $kernel"
	added=$(($(raid56_hooks $kernel) + $(cat kernel/fs/btrfs/scrub-raid56.[ch] | wc -l)))
	[ "$added" -gt 500 ] && [ "$added" -le 700 ]
	result $? "scrub of RAID5 and RAID6 adds $added of 700 lines to $kernel"
done
added=$(lines superblocks 6.12 kernel/fs/btrfs/lagging-super.[ch] kernel/fs/btrfs/device-flush.[ch])
[ "$added" -gt 100 ] && [ "$added" -le 500 ]
result $? "superblocks add $added of 500 lines to 6.12"
# Repairs of stock faults are as many as the faults that are found.
for kernel in 6.12 7.3; do
	added=$(cat kernel/$kernel/fixes/*.patch | wc -l)
	[ "$added" -gt 1000 ] && [ "$added" -le 3400 ]
	result $? "the patches of fixes have $added of 3400 lines for $kernel"
done
# The topics with a bound of their own for all of their lines are left out.
all=$(find kernel -type f ! -path 'kernel/*/move-stripe/*' ! -path 'kernel/*/superblocks/*' ! -path 'kernel/*/fixes/*' ! -name 'move-stripe.[ch]' \
	! -name 'lagging-super.[ch]' ! -name 'device-flush.[ch]' -exec cat {} + | wc -l)
[ "$all" -gt 5000 ] && [ "$all" -le 13500 ]
result $? "kernel/ without move-stripe, superblocks and fixes has $all of 13500 lines"
wide=$(for file in kernel/fs/btrfs/*.[ch]; do
	expand "$file" | awk -v file="$file" 'length > 100 && !/"/ { print "# " file ":" NR }'
done)
printf %s "${wide:+$wide$'\n'}"
[ -z "$wide" ]
result $? 'lines of kernel/fs/btrfs are at most 100 columns wide'
done_testing
