#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=600M,seed=1 --disk ssd:size=600M,seed=2
# lab: --disk hdd:size=600M,seed=3 --disk hdd:size=600M,seed=4
# lab: --disk ssd:size=604M --disk ssd:size=604M --disk ssd:size=604M --disk ssd:size=604M
#
# What it costs where little is misplaced.  Nothing else is moved, and that once; a
# balance of all metadata writes at least twice as much.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"
. "$(dirname "$LAB_LIB")/cost.sh"

# Old metadata on the hard disks, and more on the SSDs that came later.
little_misplaced() {
	lab_mkfs raid1 /dev/labdc /dev/labdd && lab_mount /dev/labdc && history 2 800 &&
	btrfs -q device add -f /dev/labda /dev/labdb "$LAB_MNT" && roles '3 4' '1 2' &&
	lab_small_files "$LAB_MNT/old" 9000 1500 12000 && sync
}

compare little_misplaced
in_range $((100 * ours / theirs)) 1 50 'percent of what balance start -m writes'
done_testing
