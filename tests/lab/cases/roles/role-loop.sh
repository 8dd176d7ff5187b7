#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk hdd:size=1G,seed=1 --disk hdd:size=1G,seed=2
#
# A program that sets roles all the time must not keep the cleaner from its other work.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

set_roles() {
	while :; do
		for role in metadata-preferred data-preferred; do
			echo $role >"$(lab_sysfs)/devinfo/1/role"
			sleep 0.005
		done
	done 2>/tmp/roles_error
}

try mkfs lab_mkfs raid1/raid1 /dev/labda /dev/labdb || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
btrfs -q subvolume create "$LAB_MNT/old"
lab_fill "$LAB_MNT/old/file" 32
sync
set_roles &
setter=$!
sleep 1
btrfs -q subvolume delete "$LAB_MNT/old"
sync
try 'a subvolume is deleted meanwhile' timeout 120 btrfs subvolume sync "$LAB_MNT"
try 'roles are still set' kill $setter
wait $setter 2>/dev/null
is "$(cat /tmp/roles_error)" '' 'without an error'
try 'unmount' umount "$LAB_MNT"
done_testing
