#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk ssd:size=512M,seed=3
#
# A read of data is in flight while a commit fails to write the checksums' leaf, and then fails too: its repair finds no
# checksums.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

data=(/dev/labda /dev/labdb)

# lost KIB: a read of so much at the end of a file
lost() {
	local d

	lab_fresh && lab_mkfs single/dup /dev/labdc && lab_mount /dev/labdc &&
		btrfs -q device add -f "${data[@]}" "$LAB_MNT" &&
		btrfs -q balance start -dconvert=raid1 "$LAB_MNT" || bail_out "$1 KiB: no file system"
	# Its checksums fill several leaves, so that one can be lost without the root.
	lab_fill "$LAB_MNT/file" 64
	lab_drop_caches
	# Starts to be written, without a commit
	dd if=/dev/zero of="$LAB_MNT/new" bs=4K count=1 oflag=nocache 2>/dev/null
	sleep 1
	for d in "${data[@]}"; do
		lab_slow "$d" 100000
	done
	dd if="$LAB_MNT/file" of=/dev/null bs="$1K" skip=$((65536 / $1 - 1)) count=1 iflag=direct 2>/tmp/read &
	sleep 1
	lab_power /dev/labdc cut
	sync -f "$LAB_MNT" 2>/dev/null
	is "$(dmesg | grep -cE 'Transaction ([0-9]+ )?aborted')" "$((++aborted))" "$1 KiB: the commit fails"
	for d in "${data[@]}"; do
		lab_power "$d" cut
	done
	wait $!
	is "$(grep -o 'Input/output error' /tmp/read)" 'Input/output error' "$1 KiB: the read fails"
	umount "$LAB_MNT"
	for d in $(lab_disks); do
		lab_slow "$d" 100
		lab_power "$d" on
	done
	try "$1 KiB: mount" lab_mount /dev/labda
	try "$1 KiB: the file can be read" cp "$LAB_MNT/file" /dev/null
	try "$1 KiB: unmount" umount "$LAB_MNT"
}

aborted=0
lost 4
lost 256
done_testing
