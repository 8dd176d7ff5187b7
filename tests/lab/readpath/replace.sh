#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Device replace by the stock and by the patched kernel: the same content on the
# target, no errors there, and how long it takes.
. "$(dirname "$0")/lib.sh"
# One disk has the file system, the other is to take its place.
DISKS=1

# replace NAME LEAST MODEL
replace() {
	compare "$1" "$2" "$3" 2 big:100 single/single -- replace content counters check
	is "$(value patched check)" clean "$1: btrfs check of the target"
}

replace 'large files, hdd' 1.15 hdd
replace 'large files, no write cache' 1.5 through

# Nothing is written to the target while a transaction commits; commits go on.
prepare hdd 1 2 big:50 single/single
if both hdd 1 2 --env COMMITS=yes -- "$here/guest" replace; then
	alike content 'beside commits: content'
	is "$(value patched check)" clean 'beside commits: btrfs check of the target'
	in_range "$(value patched commits)" 5 1000 'beside commits: there were some'
else
	not_ok 'replace beside commits'
fi
done_testing
