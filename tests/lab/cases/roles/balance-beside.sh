#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3
#
# A role that excludes metadata, and a conversion of metadata that needs all devices, at the same
# time: whichever comes first, the other one is refused.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

try mkfs lab_mkfs raid1/raid1 /dev/labda /dev/labdb /dev/labdc || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
# Roles are in force before, or the balance looks at none.
try 'a role' btrfs -q device policy tag metadata-preferred 1 "$LAB_MNT"
lab_fill "$LAB_MNT/file" 16
sync
mixed='' first=0 second=0
for delay in $(seq 0 2 60); do
	dmesg -C
	btrfs -q balance start -f -mconvert=raid1c3 "$LAB_MNT" 2>/dev/null &
	balance=$!
	sleep "$(printf '0.%03d' "$delay")"
	role=refused
	{ echo data-only >"$(lab_sysfs)/devinfo/3/role"; } 2>/dev/null && role=set
	said=converted
	wait $balance || said=failed
	dmesg | grep -q 'roles leave 2' && said=refused
	case $role-$said in
	set-refused) first=$((first + 1)) ;;
	refused-converted) second=$((second + 1)) ;;
	*) mixed="$mixed $delay:$role-$said" ;;
	esac
	echo data-preferred >"$(lab_sysfs)/devinfo/3/role"
	btrfs -q balance start -f -mconvert=raid1 "$LAB_MNT" || bail_out 'back to RAID1'
done
is "$mixed" '' 'one of the two, each time'
in_range $first 1 30 'times that the role came first'
in_range $second 1 30 'times that the balance came first'
try 'it is writable' lab_writable
try 'unmount' umount "$LAB_MNT"
done_testing
