#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk hdd:size=1G,seed=1 --disk hdd:size=1G,seed=2
#
# A role that is set through sysfs waits for a commit, which an unmount must not forget.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

try mkfs lab_mkfs raid1/raid1 /dev/labda /dev/labdb || bail_out mkfs
for delay in 0 0.001 0.005 0.02 0.05; do
	try 'mount' lab_mount /dev/labda || bail_out mount
	role=metadata-preferred
	[ "$(btrfs device policy get role 2 "$LAB_MNT")" = $role ] && role=data-preferred
	# The cleaner rests for as long as its commit took.
	try 'a role' eval "echo $role >$(lab_sysfs)/devinfo/1/role"
	sleep $delay
	try "another one, ${delay} s later" eval "echo $role >$(lab_sysfs)/devinfo/2/role"
	try 'unmount' umount "$LAB_MNT"
	try 'mount again' lab_mount /dev/labda
	is "$(btrfs device policy get role 1 "$LAB_MNT") $(btrfs device policy get role 2 "$LAB_MNT")" \
		"$role $role" 'both are kept'
	try 'unmount again' umount "$LAB_MNT"
done
done_testing
