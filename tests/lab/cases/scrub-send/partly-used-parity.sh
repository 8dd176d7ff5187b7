#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 2G --disk ssd:size=300M,seed=1
#
# A sector that no file uses, and that cannot be read, has a part in the parity of the sectors beside
# it: a replace must not write parity of what it has not read.  The disks are null_blk's, in memory.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
nullb=/sys/kernel/config/nullb

try 'disks in memory' lab_null_disks 400 4 || bail_out disks
try mkfs mkfs.btrfs -q -f -K -m raid1 -d raid5 /dev/disk{1,2,3} || bail_out mkfs
try mount lab_mount /dev/disk1 || bail_out mount
try 'a stripe that is full' dd if=/dev/urandom of="$LAB_MNT/full" bs=64K count=1 oflag=direct status=none
try 'and one with 20 KiB' dd if=/dev/urandom of="$LAB_MNT/part" bs=20K count=1 oflag=direct status=none
sync -f "$LAB_MNT"
sum=$(lab_sum "$LAB_MNT/full")
mapfile -t stripes < <(lab_last_chunk /dev/disk1)
read -r full full_sector <<<"${stripes[0]}"
read -r part part_sector <<<"${stripes[1]}"
read -r parity _ <<<"${stripes[2]}"
is "$(dd if="/dev/disk$full" bs=64K count=1 skip=$((full_sector / 128)) iflag=direct status=none | md5sum)" \
	"$(md5sum <"$LAB_MNT/full")" 'they are where they should be'
echo "+$((part_sector + 48))-$((part_sector + 55))" >$nullb/disk"$part"/badblocks
try 'replace the device with the parity' btrfs replace start -B -f "$parity" /dev/disk4 "$LAB_MNT"
echo "-$((part_sector + 48))-$((part_sector + 55))" >$nullb/disk"$part"/badblocks
try unmount umount "$LAB_MNT"
dd if=/dev/urandom of="/dev/disk$full" bs=4K seek=$((full_sector / 8 + 6)) count=4 oflag=direct status=none
echo 0 >$nullb/disk"$parity"/power
btrfs device scan --forget
btrfs device scan >/dev/null
try 'mount again' lab_mount /dev/disk"$full"
is "$(lab_sum "$LAB_MNT/full")" "$sum" 'what is damaged afterwards can be repaired'
try 'unmount again' umount "$LAB_MNT"
done_testing
