#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Device replace by the stock and by the patched kernel: the same content on the
# target, no errors there, and how long it takes.
. "$(dirname "$0")/lib.sh"
# One disk has the file system, the other is to take its place.
DISKS=1

# beyond_work MODEL: ms by which a replace of next to nothing is longer than the work of its busier disk: what commits wait
beyond_work() {
	prepare "$1" 1 2 small:1 single/single
	both "$1" 1 2 -- "$here/guest" replace && echo $(($(value patched ms) - $(value patched busiest)))
}

# replace NAME LEAST MODEL LOAD: that much faster, and apart from its commits hardly longer
# than the busier of the two disks works
replace() {
	local commits

	commits=$(beyond_work "$3") || { not_ok "$1: replace of next to nothing"; return; }
	compare "$1" "$2" "$3" 2 "$4" single/single -- replace content counters check
	is "$(value patched check)" clean "$1: btrfs check of the target"
	diag "$1: busiest disk, ms: stock $(value stock busiest), patched $(value patched busiest)"
	in_range "$(awk "BEGIN { print ($(value patched ms) - $commits) / $(value patched busiest) }")" 0.98 1.06 \
		"$1: time without commits ($commits ms) over that of the busier disk"
}

# The write cache of the target lets the stock kernel read while that writes, too,
# and the drive reads on by itself while it is not asked: what is left to gain is
# what the slower disk waits.  Without either the gain is what was aimed at.
replace 'large files, hdd' 1.1 hdd big:400
replace 'large files, 5400 rpm' 1.0 slow big:400
replace 'large files, no drive readahead' 1.4 plain big:400
replace 'large files, no write cache' 1.75 through big:400
replace 'small files, hdd' 1.1 hdd small:200
replace 'small files, no write cache' 1.65 through small:200
compare 'tiny files, hdd' 1.7 hdd 2 tiny:60 single/single -- replace content counters check

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
