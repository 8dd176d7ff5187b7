#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=600M,seed=1 --disk ssd:size=600M,seed=2
# lab: --disk hdd:size=1200M,seed=3 --disk hdd:size=1200M,seed=4
# lab: --disk ssd:size=604M --disk ssd:size=604M --disk ssd:size=1204M --disk ssd:size=1204M
#
# What it costs where SSDs are full of data and most metadata is on the hard disks.
# Nothing but what is misplaced is moved, and that once; a balance of all metadata
# does not get the metadata there.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"
. "$(dirname "$LAB_LIB")/cost.sh"

# SSDs that data filled; when the hard disks came, metadata went there, which is to change.
full_ssds() {
	lab_mkfs raid1 /dev/labda /dev/labdb && lab_mount /dev/labda &&
	lab_small_files "$LAB_MNT/mail" 400 1500 6000 >/dev/null &&
	lab_fill "$LAB_MNT/first" 380 &&
	btrfs -q device add -f /dev/labdc /dev/labdd "$LAB_MNT" && roles '3 4' '1 2' &&
	history 3 800 && lab_small_files "$LAB_MNT/new" 4000 1500 12000 &&
	sync && roles '1 2' '3 4'
}
compare full_ssds
in_range "$(expected_in_the_middle)" "$(jq -n "$seconds / 2")" "$(jq -n "$seconds * 2")" \
	"seconds that it took and thought to take when half was done, of $seconds"
in_range "$(mebibytes "$left")" 1 10000 'MiB of metadata that balance start -m leaves where they are'
done_testing
