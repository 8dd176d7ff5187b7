#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=800M,seed=1 --disk ssd:size=800M,seed=2 --disk ssd:size=800M,seed=3 --disk ssd:size=800M,seed=4
# lab: --disk ssd:size=800M,seed=5
#
# Scrub of RAID5 and RAID6 with a missing device cannot check the parity of its data: it must not read it.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# mib_read PROFILE: what a scrub reads of the devices that are left
mib_read() {
	local d sum=0

	lab_fresh && lab_mkfs "$1" $(lab_disks) && lab_mount /dev/labda || bail_out "$1: no file system"
	lab_fill "$LAB_MNT/file" 150
	umount "$LAB_MNT"
	lab_wipe /dev/labdd
	btrfs device scan --forget && btrfs device scan >/dev/null
	try "$1: mount degraded" lab_mount /dev/labda degraded || bail_out "$1: no mount"
	lab_reset
	is "$(btrfs scrub start -B "$LAB_MNT" 2>/dev/null | grep -c 'no errors found')" 1 "$1: scrub finds no error"
	for d in a b c e; do
		sum=$((sum + $(lab_stat /dev/labd$d read_bytes)))
	done
	is "$(btrfs device stats "$LAB_MNT" | grep -vc ' 0$')" 0 "$1: no errors are counted"
	try "$1: unmount" umount "$LAB_MNT"
	# Four of five parts of the file, and some metadata.
	in_range $((sum >> 20)) 120 150 "$1: MiB read"
}

mib_read raid5/raid1c3
mib_read raid6/raid1c3
done_testing
