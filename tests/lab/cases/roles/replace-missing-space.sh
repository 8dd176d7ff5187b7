#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=6G,seed=1 --disk hdd:size=6G,seed=2 --disk hdd:size=6G,seed=3 --disk hdd:size=6G,seed=4
# lab: --disk hdd:size=6G,seed=5 --disk ssd:size=2G,seed=6
#
# A missing device is replaced, then the administrator goes on: what the kernel
# counts then is what a fresh mount counts, with roles and without.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
kinds=$(lab_sysfs)/allocation

# Whole files of the given size in MiB, every other one removed: chunks that are half empty.
halves() {
	local n

	for n in $(seq "$1"); do
		fallocate -l 400M "$LAB_MNT/half$n" || return
	done
	sync
	for n in $(seq 1 2 "$1"); do
		rm "$LAB_MNT/half$n"
	done
	sync
	sleep 40
}

# The limit of a chunk's size follows the size of the writeable devices, in steps of 256 MiB.
chunk_limit() {
	local old

	old=$(cat "$kinds/data/chunk_size")
	echo 10G >"$kinds/data/chunk_size"
	cat "$kinds/data/chunk_size"
	echo "$old" >"$kinds/data/chunk_size"
}

# The threshold of dynamic reclaim follows the unallocated space, in percent of its target.
reclaim_threshold() {
	echo 1 >"$kinds/$1/dynamic_reclaim"
	cat "$kinds/$1/bg_reclaim_threshold"
	echo 0 >"$kinds/$1/dynamic_reclaim"
}

# What the kernel counts, one "name value" a line.
counts() {
	local kind

	echo "chunk limit $(chunk_limit)"
	for kind in data metadata system; do
		echo "$kind total $(cat "$kinds/$kind/disk_total") misplaced $(cat "$kinds/$kind/misplaced_bytes" 2>/dev/null)"
	done
	echo "data reclaim $(reclaim_threshold data)"
	df -B1 --output=size,avail "$LAB_MNT" | tail -n 1 | sed 's/^/df /'
	btrfs filesystem usage -b "$LAB_MNT" | sed -n '/^Unallocated/,$p; /Device unallocated\|Device size\|Free (est/p' | sed 's/(min:.*//'
}

# One of the disks that hold the file system.
member() {
	btrfs filesystem show --raw "$LAB_MNT" | sed -n 's/.* path //p' | tail -n 1
}

# array ROLE [BEFORE]: three disks in RAID1 and an SSD, one disk lost and replaced. With
# BEFORE nothing is allocated after the replace.
array() {
	lab_fresh && lab_mkfs raid1 /dev/labdb /dev/labdc /dev/labdd /dev/labdf && lab_mount /dev/labdb || return
	[ -z "$1" ] || btrfs -q device policy tag "$1" 4 "$LAB_MNT" || return
	lab_fill "$LAB_MNT/f" 10
	[ -z "${2:-}" ] || halves 12 || return
	umount "$LAB_MNT" && lab_wipe /dev/labdc && btrfs device scan >/dev/null &&
		lab_mount /dev/labdb degraded && btrfs replace start -B -f -K 2 /dev/labda "$LAB_MNT" || return
	[ -n "${2:-}" ] || halves 12
}

# What the administrator does next.
resize() {
	btrfs filesystem resize 2:5G "$LAB_MNT" && btrfs filesystem resize 1:5G "$LAB_MNT" &&
		btrfs filesystem resize 2:max "$LAB_MNT"
}
remove() { btrfs device remove 1 "$LAB_MNT"; }
remove_new() { btrfs device remove 2 "$LAB_MNT"; }
add() { btrfs device add -f -K /dev/labde "$LAB_MNT"; }
convert() { btrfs balance start --force -dconvert=single -mconvert=raid1c3 "$LAB_MNT"; }
replace_again() { btrfs replace start -B -f -K 2 /dev/labde "$LAB_MNT"; }
replace_other() { btrfs replace start -B -f -K 3 /dev/labde "$LAB_MNT"; }
remount() { mount -o remount,ro "$LAB_MNT" && mount -o remount,rw "$LAB_MNT"; }

# compare NAME: counted now, and by a fresh mount
compare() {
	local now then disk

	sync
	now=$(counts)
	disk=$(member)
	umount "$LAB_MNT" && lab_mount "$disk" || { not_ok "$1: mount"; return; }
	then=$(counts)
	is "$(diff <(echo "$now") <(echo "$then"))" '' "$1: counted as by a fresh mount"
}

# step NAME COMMAND
step() {
	dmesg -C
	try "$1: done" "$2" || return
	compare "$1"
	try "$1: writable" lab_writable
}

for role in '' metadata-preferred; do
	name=${role:-no roles}
	try "$name, at once: replaced" array "$role" before && step "$name, at once" true
	for next in resize remove remove_new add convert replace_again replace_other remount; do
		try "$name, $next: replaced" array "$role" && step "$name, $next" $next
	done
done
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labdb
done_testing
