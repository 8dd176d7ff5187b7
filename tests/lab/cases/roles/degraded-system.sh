#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk ssd:size=1G,seed=1 --disk hdd:size=1G,seed=2
#
# With one of two devices left, a change of the chunk tree makes no system chunk without copies:
# it would stay, and without its device the file system could not be written any more.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

system_profiles() {
	btrfs filesystem df "$LAB_MNT" | sed -n 's/^System, \(.*\):.*/\1/p' | xargs
}

try 'an array' lab_mkfs raid1/raid1 /dev/labd{a,b} || bail_out 'no array'
try 'mount' lab_mount /dev/labda || bail_out 'no mount'
lab_fill "$LAB_MNT/f" 300
try 'unmount' umount "$LAB_MNT"
try 'a disk dies' lab_pull /dev/labdb
btrfs device scan --forget
try 'mount degraded' lab_mount /dev/labda degraded || bail_out 'no mount'
try 'a role is set' btrfs -q device policy tag metadata-preferred 1 "$LAB_MNT"
is "$(system_profiles)" RAID1 'system chunks have their profile'
rm "$LAB_MNT/f"
try 'an unused block group is removed' btrfs -q balance start -dusage=0 "$LAB_MNT"
sync -f "$LAB_MNT"
is "$(system_profiles)" RAID1 'and still have'
try 'unmount' umount "$LAB_MNT"
done_testing
