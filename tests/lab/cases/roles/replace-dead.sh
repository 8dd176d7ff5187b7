#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk ssd:size=1G,seed=2 --disk hdd:size=2G,seed=3 --disk hdd:size=2G,seed=4
# lab: --disk hdd:size=2G,seed=5 --disk ssd:size=1G,seed=6 --disk hdd:size=2G,seed=7
#
# A device is dead and roles leave too few others for a chunk of its kind. The
# replace works all the same, in each layout, and what it leaves is in order.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
new_ssd=/dev/labdf new_hdd=/dev/labdg

# array NAME DATA/METADATA SSD-ROLE HDD-ROLE DEVICE...: filled, and each chunk where it belongs
array() {
	local name=$1 profiles=$2 ssd=$3 hdd=$4

	shift 4
	try "$name: mkfs" eval lab_fresh '&&' lab_mkfs "$profiles" "$@" || return
	dmesg -C
	try "$name: mount" lab_mount "$1" || return
	try "$name: role of the SSDs" btrfs -q device policy tag "$ssd" nonrotational "$LAB_MNT" || return
	try "$name: role of the disks" btrfs -q device policy tag "$hdd" rotational "$LAB_MNT" || return
	try "$name: chunks follow" btrfs balance --preferred-metadata "$LAB_MNT"
	lab_small_files "$LAB_MNT/small" 1500 1500 3000 >/dev/null
	lab_fill "$LAB_MNT/large" 100
	sync
	sums=$(sums)
}

sums() {
	(cd "$LAB_MNT" && find small large -type f -exec sha256sum {} + | sort | sha256sum)
}

# Bytes that are where they must not be, and chunks that went there.
misplaced() {
	cat "$(lab_sysfs)"/allocation/*/misplaced_bytes "$(lab_sysfs)"/allocation/*/spilled_chunks | xargs
}

# lose NAME DEVICE OTHER: gone at the next mount
lose() {
	try "$1: unmount" umount "$LAB_MNT" || return
	lab_wipe "$2"
	btrfs device scan >/dev/null
	try "$1: mount degraded" lab_mount "$3" degraded || return
	dmesg -C
}

# Writers that come and go meanwhile.
writer() {
	local n=0

	while [ ! -e /tmp/stop ]; do
		n=$((n + 1))
		lab_small_files "$LAB_MNT/w" 40 1500 3000
		dd if=/dev/zero of="$LAB_MNT/b" bs=1M count=20 conv=fsync
		rm -rf "$LAB_MNT/w" "$LAB_MNT/b"
		sync
	done >/dev/null 2>&1
}

# replaced NAME DEVID NEW ROLE OTHER: and everything is as it was
replaced() {
	local name=$1 devid=$2 new=$3 role=$4 other=$5 pid

	rm -f /tmp/stop
	writer & pid=$!
	try "$name: replace" btrfs replace start -B -f -K "$devid" "$new" "$LAB_MNT"
	touch /tmp/stop
	wait $pid
	diag "$(dmesg | grep -iE 'replace|read-only|ro:|chunk|roles' | grep -v 'started\|finished')"
	try "$name: writable" lab_writable
	is "$(btrfs device policy get role "$devid" "$LAB_MNT")" "$role" "$name: the new device has the role"
	is "$(misplaced)" '0 0 0 0 0 0' "$name: nothing is on devices that exclude it"
	try "$name: unmount" umount "$LAB_MNT"
	btrfs device scan --forget
	btrfs device scan >/dev/null
	try "$name: btrfs check" btrfs check --check-data-csum "$other"
	try "$name: mount, not degraded" lab_mount "$other" || return
	is "$(sums)" "$sums" "$name: contents"
	try "$name: scrub finds no error" lab_scrub
	is "$(lab_small_files "$LAB_MNT/more" 200 1500 3000)" all "$name: space for more"
}

a=/dev/labda b=/dev/labdb c=/dev/labdc d=/dev/labdd e=/dev/labde
for role in metadata-only metadata-preferred; do
	array "$role" raid1/raid1 "$role" data-only $a $b $c $d $e
	lose "$role" $b $a
	replaced "$role" 2 "$new_ssd" "$role" $a
done
array 'RAID10' raid1/raid10 metadata-only data-only $a $b $c $d $e
lose 'RAID10' $a $b
replaced 'RAID10' 1 "$new_ssd" metadata-only $b
array 'one disk' single/raid1 metadata-only data-only $a $b $c
lose 'one disk' $b $a
replaced 'one disk' 2 "$new_ssd" metadata-only $a
array 'data disk' raid1/raid1 metadata-only data-only $a $b $c $d
lose 'data disk' $c $a
replaced 'data disk' 3 "$new_hdd" data-only $a
array 'data disk, RAID5' raid5/raid1 metadata-only data-only $a $b $c $d $e
lose 'data disk, RAID5' $c $a
replaced 'data disk, RAID5' 3 "$new_hdd" data-only $a
array 'no role' raid1/raid1 data-preferred data-preferred $a $b $c $d $e
lose 'no role' $b $a
replaced 'no role' 2 "$new_ssd" data-preferred $a
try 'unmount' umount "$LAB_MNT"
done_testing
