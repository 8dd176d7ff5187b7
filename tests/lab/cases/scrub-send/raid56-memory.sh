#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Scrub of RAID5 without memory: for each of the first allocations of the tasks that
# scrub, what becomes of it when that one fails. Either it is done in another way, or
# ended with an error that says so; nothing is damaged, and the next scrub finds nothing.
# For a kernel whose allocations can be made to fail: LAB_CONFIG=uml-debug.
here=$(dirname "$0")
cache=${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}
config=${LAB_CONFIG:-uml}
export PATCHED_KERNEL=$cache/${LAB_KERNEL:-6.12}/build-$config/linux
export STOCK_KERNEL=$PATCHED_KERNEL
export SEEDS=1
. "$here/lib.sh"
grep -q '^CONFIG_FAIL_PAGE_ALLOC=y' "${PATCHED_KERNEL%/*}/.config" ||
	skip_all 'allocations cannot fail in this kernel; LAB_CONFIG=uml-debug'

# How many scrubs ended so.
ended() {
	sed -n "s/^ended \([0-9]*\) $1$/\1/p" "$work/failing"
}

prepare hdd 1 3 big:50 raid5/raid5
cp -r --sparse=always "$work/made" "$work/copy"
if machine "$patched" "$work/copy" hdd 1 3 -- "$here/guest" failing 1 "${LAST:-25}" >"$work/failing" 2>"$work/log"; then
	diag "$(cat "$work/failing")"
	in_range "$(ended finished)" 30 1000000 'scrubs that were done'
	is "$(grep '^ended' "$work/failing" | grep -vE 'finished$|Cannot allocate memory$')" '' 'the others say that there is no memory'
	is "$(sed -n 's/^again //p' "$work/failing" | grep -oE ':[0-9]+' | sort -u)" :0 'a scrub afterwards finds nothing'
else
	not_ok 'scrubs without memory'
	diag "$(tail -n 40 "$work/log")"
fi
done_testing
