#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=800M,seed=1 --disk ssd:size=800M,seed=2 --disk ssd:size=800M,seed=3 --disk ssd:size=800M,seed=4
# lab: --disk ssd:size=800M,seed=5
#
# A read-only scrub of RAID5 and RAID6 repairs no parity, and does not read it.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

for profile in raid5 raid6; do
	lab_fresh && lab_mkfs $profile/raid1c3 $(lab_disks) && lab_mount /dev/labda || bail_out "$profile: no file system"
	lab_fill "$LAB_MNT/file" 150
	sync
	lab_reset
	is "$(btrfs scrub start -B -r "$LAB_MNT" 2>/dev/null | grep -c 'no errors found')" 1 "$profile: no error"
	sum=0
	for d in a b c d e; do
		sum=$((sum + $(lab_stat /dev/labd$d read_bytes)))
	done
	in_range $((sum >> 20)) 150 160 "$profile: MiB read"
	try "$profile: unmount" umount "$LAB_MNT"
done
done_testing
