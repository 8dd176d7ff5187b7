#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 2G --disk ssd:size=300M,seed=1
#
# The parity of RAID5 is missing and is replaced, and beside a file a sector that no file uses cannot be
# read: nothing is left to compute it from. The replace may fail, but must not write parity of what has
# never been read.  The disks are null_blk's, in memory.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
nullb=/sys/kernel/config/nullb

# write FILE KIB
write() {
	dd if=/dev/urandom of="$LAB_MNT/$1" bs="$2K" count=1 oflag=direct status=none
}

# lose DISK
lose() {
	echo 0 >"$nullb/disk$1/power"
	btrfs device scan --forget && btrfs device scan >/dev/null
}

# replace DEVID: by the disk that is left
replace() {
	btrfs replace start -B -f "$1" /dev/disk4 "$LAB_MNT"
}

try 'disks in memory' lab_null_disks 400 4 || bail_out disks
try mkfs lab_mkfs raid5/raid1 /dev/disk{1,2,3} || bail_out mkfs
try mount lab_mount /dev/disk1 || bail_out mount
try 'a stripe of two files' eval 'write part 20 && write gone 44'
try 'and one beside it' write file 64
sync -f "$LAB_MNT"
sum=$(lab_sum "$LAB_MNT"/{file,part})
mapfile -t stripes < <(lab_last_chunk /dev/disk1)
read -r part sector <<<"${stripes[0]}"
read -r file file_sector <<<"${stripes[1]}"
read -r parity _ <<<"${stripes[2]}"
is "$(dd if="/dev/disk$part" bs=20K count=1 iflag=direct,skip_bytes skip=$((sector * 512)) status=none | md5sum)" \
	"$(md5sum <"$LAB_MNT/part")" 'the first is where it should be'
is "$(dd if="/dev/disk$file" bs=64K count=1 skip=$((file_sector / 128)) iflag=direct status=none | md5sum)" \
	"$(md5sum <"$LAB_MNT/file")" 'so is the other'
rm "$LAB_MNT/gone"
sync -f "$LAB_MNT"
try unmount umount "$LAB_MNT"
lose "$parity"
try 'mount without the device of the parity' lab_mount "/dev/disk$part" degraded || bail_out mount
bad=$((sector + 80))-$((sector + 87))
echo "+$bad" >"$nullb/disk$part/badblocks"
dd if="/dev/disk$part" of=/dev/null bs=4K skip=$((sector / 8 + 10)) count=1 iflag=direct 2>/dev/null
is $? 1 'a sector of the removed file cannot be read'
replace "$parity" >/tmp/replace 2>&1
status=$?
diag "replace: status $status: $(cat /tmp/replace)"
echo "-$bad" >"$nullb/disk$part/badblocks"
# One that has failed has to work as soon as the sector can be read.
[ $status = 0 ] || try 'replace once the sector can be read' replace "$parity" || bail_out replace
try 'unmount again' umount "$LAB_MNT"
lose "$file"
try 'mount without the device of the file' lab_mount "/dev/disk$part" degraded || bail_out mount
is "$(lab_sum "$LAB_MNT"/{file,part})" "$sum" 'the file can be rebuilt'
try 'unmount at the end' umount "$LAB_MNT"
done_testing
