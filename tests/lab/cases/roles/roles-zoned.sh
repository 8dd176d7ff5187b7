#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 3G --disk ssd:size=1536M,seed=1 --disk ssd:size=2G,seed=2
#
# Zoned disks for data and an SSD without zones for metadata: chunks are zones
# there, and roles hold all the same.  The disks are null_blk's, in memory.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# zoned NAME MIB: a disk of zones of 256 MiB, what btrfs-progs takes for disks without
zoned() {
	local dir=/sys/kernel/config/nullb/$1

	mkdir "$dir" || return
	echo "$2" >"$dir/size"
	echo 4096 >"$dir/blocksize"
	echo 1 >"$dir/memory_backed"
	echo 1 >"$dir/zoned"
	echo 256 >"$dir/zone_size"
	echo 0 >"$dir/zone_nr_conv"
	echo 1 >"$dir/power"
}

# Devids that hold chunks of the kind.
where() {
	lab_chunks /dev/zone1 | grep "^$1" | cut -d' ' -f4- | xargs -n1 | sort -u | xargs
}

mount -t configfs none /sys/kernel/config
# Linux 7.3 wants 8 zones.  To fill so many of the SSD takes minutes, so it is not filled there.
ssd=/dev/labda
case $(uname -r) in 7.*) ssd=/dev/labdb ;; esac
try 'zoned disks' eval 'zoned zone1 2048 && zoned zone2 2048' || bail_out disks
# mkfs.btrfs fails on both sorts at once, the kernel does not.  btrfs check of more tree
# blocks than these would run out of mappings of memory in User-Mode Linux.
try mkfs mkfs.btrfs -q -f -K -O zoned -n 64K -U "$LAB_UUID" \
	-d single -m single /dev/zone1 /dev/zone2 || bail_out mkfs
try mount lab_mount /dev/zone1 || bail_out mount
try 'add the SSD' btrfs device add -f -K $ssd "$LAB_MNT"
try 'zoned disks for data' btrfs -q device policy tag data-only 1 2 "$LAB_MNT"
try 'the SSD for metadata' btrfs -q device policy tag metadata-only 3 "$LAB_MNT"
lab_fill "$LAB_MNT/f" 100
try 'balance --preferred-metadata' btrfs balance --preferred-metadata "$LAB_MNT"
try 'nothing is misplaced' btrfs device policy usage -c "$LAB_MNT"
try 'a full balance' btrfs balance start --full-balance "$LAB_MNT"
is "$(where 'METADATA\|SYSTEM')" 3 'metadata is on the SSD'
is "$(where DATA | grep -c '^[^3]\+$')" 1 'data is not'
sum=$(lab_sum "$LAB_MNT/f")
lab_fill "$LAB_MNT/big" 900 2
sync
is "$(where DATA)" '1 2' 'more data goes to both zoned disks'
try 'writable' lab_writable
rm "$LAB_MNT/big"
try 'zones are given back' btrfs balance start -dusage=90 "$LAB_MNT"
try 'unmount' umount "$LAB_MNT"
try 'mount again' lab_mount /dev/zone1
is "$(btrfs device policy get role 3 "$LAB_MNT")" metadata-only 'the role is kept'
is "$(lab_sum "$LAB_MNT/f")" "$sum" 'contents'
if [ $ssd = /dev/labda ]; then
	is "$(lab_small_files "$LAB_MNT/small" 1000000 1500 12000)" 'No space left on device' 'the SSD is full'
	sync
	for i in $(seq 40); do
		truncate -s 0 "$LAB_MNT/small/$i"
		ln "$LAB_MNT/small/$i" "$LAB_MNT/link$i"
	done 2>/dev/null
	try 'it is still writable' lab_writable
fi
try 'unmount again' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/zone1
done_testing
