#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk hdd:size=2G,seed=1,volatile=1 --disk hdd:size=2G,seed=2,volatile=1
#
# A role that was written to sysfs outlives a power cut after a sync. The kernel's cleaner, which commits
# for the quota of a deleted snapshot and then at once for the role, may have begun but not ended that.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

all_disks() {
	lab_power /dev/labda "$1"
	lab_power /dev/labdb "$1"
}

try 'an array' lab_mkfs raid1/raid1 /dev/labd{a,b} || bail_out 'no array'
try 'mount' lab_mount /dev/labda || bail_out 'no mount'
try 'quota' btrfs quota enable "$LAB_MNT"
try 'a subvolume' btrfs -q subvolume create "$LAB_MNT/sub"
info=$(lab_sysfs)/devinfo
names=(data-preferred metadata-preferred)
lost=0
for round in $(seq 10); do
	name=${names[round % 2]}
	btrfs -q subvolume snapshot "$LAB_MNT/sub" "$LAB_MNT/snap$round"
	btrfs -q subvolume delete -c "$LAB_MNT/snap$round"
	# This wakes the cleaner; in its commit comes the next one.
	echo "$name" >"$info/1/role"
	echo "$name" >"$info/2/role"
	sync -f "$LAB_MNT"
	all_disks cut
	umount "$LAB_MNT"
	all_disks on
	lab_mount /dev/labda || bail_out 'cannot be mounted any more'
	grep -qF "[$name]" "$info/2/role" || lost=$((lost + 1))
done
is "$lost" 0 'roles that were lost after a sync, of 10'
dmesg -C
try 'unmount' umount "$LAB_MNT"
done_testing
