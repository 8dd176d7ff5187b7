#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk ssd:size=1G,seed=3
#
# One SSD for metadata in RAID1: each tree block has a copy on a hard disk, too, and is read from the SSD, by one task and by several.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

walk() {
	find "$LAB_MNT/files/$1" -type f -exec cat {} + >/dev/null
}

# from_ssd COMMAND...: percent of the reads that went to the SSD, on a file system that was just mounted
from_ssd() {
	umount "$LAB_MNT"
	lab_mount /dev/labda noatime && btrfs -q device policy set roundrobin "$LAB_MNT" || bail_out 'no file system'
	awk '{ print $1 }' /sys/block/labd[abc]/stat >/tmp/before
	"$@"
	awk '{ print $1 }' /sys/block/labd[abc]/stat | paste /tmp/before - |
		awk '{ sum += $2 - $1; ssd = $2 - $1 } END { print 100 * ssd / sum }'
}

several() {
	walk 1 & walk 2 & walk 3 & walk 4 &
	wait
}

lab_mkfs raid1/raid1 /dev/labda /dev/labdb /dev/labdc && lab_mount /dev/labda noatime &&
	btrfs -q device policy tag metadata-only 3 "$LAB_MNT" --force || bail_out 'no file system'
mkdir "$LAB_MNT/files"
for n in 1 2 3 4; do
	lab_small_files "$LAB_MNT/files/$n" 2500 1500 >/dev/null
done
try balance btrfs -q balance start --full-balance "$LAB_MNT"
is "$(lab_devids /dev/labda METADATA | wc -w)" 2 'metadata is on the SSD and one hard disk'
in_range "$(from_ssd walk 1)" 95 100 'percent of metadata reads from the SSD, one task'
in_range "$(from_ssd several)" 95 100 'four tasks'
try unmount umount "$LAB_MNT"
done_testing
