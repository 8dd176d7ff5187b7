#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk hdd:size=4G,seed=2 --disk hdd:size=4G,seed=3 --disk hdd:size=100M,seed=4
# lab: --disk ssd:size=1G,seed=5 --disk ssd:size=2G,seed=6 --disk hdd:size=2G,seed=7 --disk hdd:size=2G,seed=8 --disk hdd:size=2G,seed=9
# machines: only equal-ssd pair
# machines at night: preferred equal-hdd pair-larger second
#
# A device is lost, the file system is mounted degraded and the device replaced.
# Afterwards the file system takes data and metadata as it did before, makes no
# chunk of length 0, and df answers.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
machine=$1

# lose DEVICE OTHER: the device is gone at the next mount, which is that of OTHER
lose() {
	umount "$LAB_MNT" && lab_pull "$1" && btrfs device scan --forget &&
		btrfs device scan >/dev/null && lab_mount "$2" degraded
}

# replace DEVID DEVICE
replace() {
	btrfs replace start -B -f -K "$1" "$2" "$LAB_MNT"
}

# begin PROFILES DEVICE...: a file system with a file; tag as you like, then lose and replace
begin() {
	try "$machine: mkfs" lab_mkfs "$@" && try "$machine: mount" lab_mount "$2" || bail_out "$machine"
	lab_fill "$LAB_MNT/old" 20
	sum=$(lab_sum "$LAB_MNT/old")
}

# tag ROLE DEVID...
tag() {
	try "$machine: role" btrfs -q device policy tag "$@" "$LAB_MNT"
}

# Chunks whose length is none.
bad_lengths() {
	lab_chunks "$1" | awk '$3 < 65536; END { if (!NR) print "no chunk is listed" }'
}

# use FILES DEVICE: write to the file system with every device in place again;
# 17,000 of the small files are more metadata than fits into a chunk
use() {
	dmesg -C
	try "$machine: data" lab_fill "$LAB_MNT/new" 800 2
	is "$(lab_small_files "$LAB_MNT/small" "$1" 1500 12000)" all "$machine: metadata"
	try "$machine: sync" sync
	try "$machine: writable" lab_writable
	is "$(bad_lengths "$2")" '' "$machine: every chunk has a length"
	try "$machine: df answers" df "$LAB_MNT"
	try "$machine: balance" btrfs balance start --force -d -m "$LAB_MNT"
	lab_drop_caches
	is "$(lab_sum "$LAB_MNT/old")" "$sum" "$machine: contents"
	try "$machine: df answers after the balance" df "$LAB_MNT"
	try "$machine: unmount" umount "$LAB_MNT"
	try "$machine: mount" lab_mount "$2"
	is "$(lab_sum "$LAB_MNT/old")" "$sum" "$machine: contents after a mount"
	try "$machine: unmount again" umount "$LAB_MNT"
	try "$machine: btrfs check" btrfs check "$2"
}

case $machine in
preferred|only)
	# What is left is exactly as large as the devices that come second for metadata.
	begin raid1 /dev/labda /dev/labdb /dev/labdc
	try "$machine: a disk too small for mkfs" btrfs device add -f -K /dev/labdd "$LAB_MNT"
	tag "metadata-$machine" 1
	try "$machine: the SSD is lost" lose /dev/labda /dev/labdb
	try "$machine: replace" replace 1 /dev/labde
	use 17000 /dev/labdb ;;
equal-hdd|equal-ssd)
	begin raid1 /dev/labdf /dev/labdg /dev/labdh
	tag metadata-preferred 1
	if [ "$machine" = equal-hdd ]; then
		try "$machine: an HDD is lost" lose /dev/labdg /dev/labdh
		try "$machine: replace" replace 2 /dev/labdi
	else
		# The target is an HDD, and inherits the role.
		try "$machine: the SSD is lost" lose /dev/labdf /dev/labdh
		try "$machine: replace" replace 1 /dev/labdi
	fi
	use 17000 /dev/labdh ;;
pair|pair-larger)
	[ "$machine" = pair ] && disk=/dev/labdg || disk=/dev/labdb
	begin raid1 /dev/labdf $disk
	tag metadata-preferred 1
	try "$machine: the HDD is lost" lose $disk /dev/labdf
	[ "$machine" = pair ] && new=/dev/labdh || new=/dev/labdc
	try "$machine: replace" replace 2 $new
	use 2000 /dev/labdf ;;
second)
	# One replaced device after the other.
	begin raid1 /dev/labdf /dev/labdg /dev/labdh
	tag metadata-preferred 1
	try "$machine: an HDD is lost" lose /dev/labdg /dev/labdf
	try "$machine: replace" replace 2 /dev/labdi
	try "$machine: the other HDD is lost" lose /dev/labdh /dev/labdf
	try "$machine: replace it" replace 3 /dev/labdb
	use 2000 /dev/labdf ;;
esac
done_testing
