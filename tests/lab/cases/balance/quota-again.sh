#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk hdd:size=2G,seed=1
#
# Quotas are disabled while data is dirty, and enabled again in the same mount. What is written then must
# not take from a group of quotas what another subvolume has reserved there.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

quotas=$(lab_sysfs)/qgroups

# dirty FILE: 4 MiB that are not written yet; to truncate it would write them at close
dirty() {
	dd if=/dev/urandom of="$LAB_MNT/$1" bs=1M count=4 conv=notrunc status=none
}

reserved() {
	cat "$quotas/$1/rsv_meta_prealloc"
}

try mkfs lab_mkfs single/single /dev/labda || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
for subvolume in a b; do
	btrfs -q subvolume create "$LAB_MNT/$subvolume"
	touch "$LAB_MNT/$subvolume"/{1,2}
done
sync
try 'quotas' btrfs quota enable "$LAB_MNT"
try 'they are counted' btrfs quota rescan -w "$LAB_MNT"
dirty a/1
try 'no quotas' btrfs quota disable "$LAB_MNT"
dirty a/2
try 'quotas again' btrfs quota enable "$LAB_MNT"
try 'a group' btrfs qgroup create 1/0 "$LAB_MNT"
for id in $(btrfs subvolume list "$LAB_MNT" | awk '{ print $2 }'); do
	try "subvolume $id joins it" btrfs qgroup assign --no-rescan "0/$id" 1/0 "$LAB_MNT"
done
dirty b/1
# The last to be created.
own=$(reserved "0_$id")
in_range "$own" 4096 1000000 'a reservation of the other subvolume'
try 'the first one is written' sync "$LAB_MNT/a/2"
is "$(reserved 1_0)" "$own" 'the group still has it'
try 'unmount' umount "$LAB_MNT"
done_testing
