#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk hdd:size=1G,seed=1 --disk hdd:size=1G,seed=2
#
# A role that is set through sysfs waits for a commit. A snapshot of the devices that is made while the file
# system is frozen must have it.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

role() {
	echo "$2" >"$(lab_sysfs)/devinfo/$1/role"
}

# on_disk DEVICE FIELD: a field of its superblock
on_disk() {
	echo 3 >/proc/sys/vm/drop_caches
	btrfs inspect-internal dump-super "$1" | awk -v field="$2" '$1 == field { print $2 }'
}

try mkfs lab_mkfs raid1/raid1 /dev/labda /dev/labdb || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
sync
before=$(on_disk /dev/labda generation)
try 'a role' role 1 metadata-preferred
for _ in $(seq 1000); do
	[ "$(on_disk /dev/labda generation)" = "$before" ] || break
	sleep 0.001
done
# The cleaner rests for as long as its commit took.
try 'another one, directly after its commit' role 2 metadata-preferred
try freeze fsfreeze -f "$LAB_MNT"
is "$(on_disk /dev/labda dev_item.type) $(on_disk /dev/labdb dev_item.type)" '1 1' 'both are on disk'
try thaw fsfreeze -u "$LAB_MNT"
try 'unmount' umount "$LAB_MNT"
done_testing
