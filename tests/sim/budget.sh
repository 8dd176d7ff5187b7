#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How large the read policy is: lines that the topic adds to a stock kernel, hooks included, the constants, and the
# stack frame of the choice as the compiler of the host makes it.
. "${top_srcdir:?}/tests/tap.sh"
cd "$top_srcdir" || exit 1
most_lines=1400 most_constants=20 most_stack=256

files=$(cat kernel/fs/btrfs/read-policy*.[ch] | wc -l)
for kernel in 6.12 7.3; do
	hooks=$(cat kernel/$kernel/read-policy/*.patch | grep '^+' | grep -cv '^+++ ')
	[ $((hooks + files)) -le $most_lines ]
	result $? "$((hooks + files)) of $most_lines lines for $kernel: $files in files, $hooks in hooks"
done

# Named ones; what they are derived from is in the comment before each.
constants() {
	grep -hE '^#define [A-Z]\w*[[:space:]]+[^[:space:]]' kernel/fs/btrfs/read-policy*.[ch] | grep -vE '^#define (UNIT|BTRFS_READ_POLICY_H|BTRFS_READ_POLICY_SPEED_H)\b|\('
	grep -hE '^#define [A-Z]\w*[[:space:]]+\(' kernel/fs/btrfs/read-policy*.[ch]
}
[ "$(constants | wc -l)" -gt 0 ] && [ "$(constants | wc -l)" -le $most_constants ]
result $? "$(constants | wc -l) of $most_constants named constants"
# A comment before it, or before the one that it follows.
bare=$(awk 'FNR == 1 { last = 0 } /^#define [A-Z]/ && !/^#define (UNIT|BTRFS_READ_POLICY_H|BTRFS_READ_POLICY_SPEED_H|BTRFS_READ_POLICY_SETTING)([^A-Z_]|$)/ {
	if (!last) print FILENAME ": " $2; next } { last = /\*\/$/ }' kernel/fs/btrfs/read-policy*.[ch])
is "$bare" '' 'constants say what they are derived from'

dir=$(mktemp -d) && trap 'rm -r "$dir"' EXIT
frame() {
	local empty=${top_builddir:?}/tests/sim/empty

	${CC:-cc} -std=gnu11 -O2 -fno-inline-functions-called-once -fstack-usage -I"$empty" -Itests/sim -Ikernel/fs/btrfs \
		-Itests/lab/machine/driver -include tests/sim/kernel.h -c kernel/fs/btrfs/read-policy.c -o "$dir/o" || return
	awk '{ if ($2 > most) most = $2 } END { print most }' "$dir/o.su" "$dir"/*.su | sort -n | tail -n 1
}
stack=$(frame)
[ -n "$stack" ] && [ "$stack" -le $most_stack ]
result $? "$stack of $most_stack bytes of stack in the deepest function of the choice"
done_testing
