#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=800M,seed=1 --disk ssd:size=800M,seed=2 --disk ssd:size=800M,seed=3 --disk ssd:size=800M,seed=4
# lab: --disk ssd:size=800M,seed=5 --disk ssd:size=800M,seed=6 --disk ssd:size=800M,seed=7
#
# One or two devices are missing and are replaced, one of them also while it is there.  Stripes of both may be at the
# same place: the target gets those of one of them.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# replaces PROFILE LOST... -- DEVID TARGET...: one after the other, with all of those lost
replaces() {
	local profile=$1 lost=() sum

	for (( ; $# > 1; )); do
		shift
		[ "$1" != -- ] || break
		lost+=(-e "${1}p")
	done
	shift
	lab_fresh && lab_mkfs "$profile" $(lab_disks | head -5) && lab_mount /dev/labda || bail_out "$profile: no file system"
	lab_fill "$LAB_MNT/file" 200
	sum=$(sha256sum "$LAB_MNT/file")
	umount "$LAB_MNT"
	lab_wipe $(lab_disks | sed -n "${lost[@]}")
	btrfs device scan --forget && btrfs device scan >/dev/null
	try "$profile: mount degraded" lab_mount /dev/labda degraded || bail_out "$profile: no mount"
	for (( ; $# > 0; )); do
		try "$profile: replace $1" btrfs replace start -B -f -K "$1" "$2" "$LAB_MNT"
		is "$(btrfs scrub start -B -r "$2" 2>/dev/null | grep -c 'no errors found')" 1 "$profile: scrub of the target finds no error"
		shift 2
	done
	is "$(btrfs scrub start -B -r "$LAB_MNT" 2>/dev/null | grep -c 'no errors found')" 1 "$profile: scrub finds no error"
	lab_drop_caches
	is "$(sha256sum "$LAB_MNT/file")" "$sum" "$profile: contents"
	try "$profile: unmount" umount "$LAB_MNT"
}

replaces raid6/raid1c3 2 4 -- 2 /dev/labdf 4 /dev/labdg
replaces raid6/raid1c3 2 4 -- 4 /dev/labdf 2 /dev/labdg
replaces raid6/raid6 2 4 -- 2 /dev/labdf 4 /dev/labdg
replaces raid6/raid1c3 4 -- 2 /dev/labdf 4 /dev/labdg
replaces raid1c3/raid1c4 2 4 -- 2 /dev/labdf 4 /dev/labdg
done_testing
