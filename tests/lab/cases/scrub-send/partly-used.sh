#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=300M,seed=1
#
# Scrub reads 64 KiB at a time, also what no file uses. A sector that cannot be read there is no
# error that could not be corrected.  The disk is null_blk's, in memory.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
dir=/sys/kernel/config/nullb/disk1

# Of the last chunk: the sector of its first byte.
chunk() {
	btrfs inspect-internal dump-tree -t chunk /dev/disk1 |
		awk '$1 == "stripe" && $2 == 0 { offset = $6 } END { print offset / 512 }'
}

# found FIELD: what the scrub has counted
found() {
	awk -v field="$1:" '$1 == field { print $2 }' /tmp/scrub
}

mount -t configfs none /sys/kernel/config
try 'disk' eval "mkdir $dir && echo 400 >$dir/size && echo 1 >$dir/memory_backed && echo 1 >$dir/power" || bail_out disk
try mkfs mkfs.btrfs -q -f -K -m single -d single /dev/disk1 || bail_out mkfs
try mount lab_mount /dev/disk1 || bail_out mount
try 'an old chunk is full' dd if=/dev/urandom of="$LAB_MNT/old" bs=1M count=8 oflag=direct status=none
try 'a file of 20 KiB' dd if=/dev/urandom of="$LAB_MNT/file" bs=20K count=1 oflag=direct status=none
sync -f "$LAB_MNT"
echo "+$(($(chunk) + 64))-$(($(chunk) + 71))" >$dir/badblocks
dd if=/dev/disk1 of=/dev/null bs=4K skip=$(($(chunk) / 8 + 8)) count=1 iflag=direct 2>/dev/null
is $? 1 'a sector after it cannot be read'
btrfs scrub start -B -R "$LAB_MNT" >/tmp/scrub 2>/dev/null
is $? 0 'scrub finds the file'

is "$(found uncorrectable_errors)" 0 'and nothing that cannot be corrected'
is "$(found read_errors)" "$(found corrected_errors)" 'each error is corrected'
try unmount umount "$LAB_MNT"
done_testing
