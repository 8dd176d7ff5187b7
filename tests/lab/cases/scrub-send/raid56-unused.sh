#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 2G --disk ssd:size=300M,seed=1
#
# Scrub reads also what no file uses, for the parity of what is beside it. A sector that cannot
# be read there is no error of the file system.  The disks are null_blk's, in memory.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# A millisecond a request, and it rotates: otherwise scrubs do not wait for each other.
disk() {
	local dir=/sys/kernel/config/nullb/$1

	mkdir "$dir" && echo 400 >"$dir/size" && echo 1 >"$dir/memory_backed" && echo 2 >"$dir/irqmode" &&
		echo 1000000 >"$dir/completion_nsec" && echo 1 >"$dir/power" && echo 1 >"/sys/block/$1/queue/rotational"
}

# Files of a stripe each, one after the other; every second one is removed.
stripes() {
	local i

	for i in {0..31}; do
		dd if=/dev/urandom of="$LAB_MNT/$i" bs=64K count=1 oflag=direct status=none || return
	done
	sync -f "$LAB_MNT" && rm "$LAB_MNT"/*[02468] && sync -f "$LAB_MNT"
}

# Of the last chunk: "NAME SECTOR" where the first stripe of the fourth full stripe is.
unused() {
	btrfs inspect-internal dump-tree -t chunk /dev/disk1 | awk '
		$1 == "stripe" && $2 == 0 { devid = $4; offset = $6 }
		END { print "disk" devid, (offset + 3 * 65536) / 512 }'
}

mount -t configfs none /sys/kernel/config
try 'disks' eval 'disk disk1 && disk disk2 && disk disk3' || bail_out disks
try mkfs mkfs.btrfs -q -f -K -m raid1 -d raid5 /dev/disk{1,2,3} || bail_out mkfs
try mount lab_mount /dev/disk1 || bail_out mount
try 'files that are a stripe each' stripes
read -r disk sector <<<"$(unused)"
is "$(btrfs filesystem usage -b "$LAB_MNT" | grep -c '^Data,RAID5')" 1 'a RAID5 chunk'
echo "+$((sector + 16))-$((sector + 23))" >"/sys/kernel/config/nullb/$disk/badblocks"
dd if="/dev/$disk" of=/dev/null bs=4K skip=$((sector / 8 + 2)) count=1 iflag=direct 2>/dev/null
is $? 1 'a sector of a removed file cannot be read'
btrfs scrub start -B -R "$LAB_MNT" >/tmp/scrub 2>/dev/null
is $? 0 'scrub goes to the end'
is "$(awk '/_errors:/ { sum += $2 } END { print (NR > 10), sum }' /tmp/scrub)" '1 0' 'and counts no error'
try unmount umount "$LAB_MNT"
done_testing
