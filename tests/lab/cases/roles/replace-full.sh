#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=20G,seed=1 --disk hdd:size=20G,seed=2
# lab: --disk ssd:size=160M,seed=3 --disk ssd:size=160M,seed=4 --disk ssd:size=160M,seed=5
# lab: --disk ssd:size=400M,seed=6 --disk ssd:size=400M,seed=7 --disk ssd:size=400M,seed=8
#
# Metadata-only SSDs that are full are replaced by larger ones, all of them alive.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

fill() {
	lab_small_files "$LAB_MNT/$1" "${2:-1000000}" 1500 12000
	sync
}

sums() {
	lab_drop_caches
	(cd "$LAB_MNT" && find d -type f -exec sha256sum {} + | sort | sha256sum)
}

# variant PROFILE SSD...: full, each one replaced and grown, and there is space again
variant() {
	local p=$1 devid=2 sum new

	shift
	try "$p: mkfs" eval lab_fresh '&&' lab_mkfs single /dev/labda /dev/labdb "$@" || return
	dmesg -C
	try "$p: mount" lab_mount /dev/labda || return
	try "$p: SSDs take metadata only" btrfs device policy tag metadata-only nonrotational "$LAB_MNT"
	try "$p: hard disks data only" btrfs device policy tag data-only rotational "$LAB_MNT"
	try "$p: metadata goes there" btrfs balance start --force -mconvert="$p" -sconvert="$p" "$LAB_MNT"
	is "$(fill d)" 'No space left on device' "$p: full"
	sum=$(sums)
	for new in f g h; do
		devid=$((devid + 1))
		[ "$devid" -le $(($# + 2)) ] || break
		try "$p: replace $devid" btrfs replace start -B -f -K "$devid" "/dev/labd$new" "$LAB_MNT"
		try "$p: grow $devid" btrfs filesystem resize "$devid:max" "$LAB_MNT"
	done
	diag "$(dmesg | grep -iE 'read-only|ro:|chunk|roles|scrub')"
	try "$p: writable" lab_writable
	is "$(cat "$(lab_sysfs)"/allocation/{meta,}data/{misplaced_bytes,spilled_chunks} | xargs)" '0 0 0 0' \
		"$p: no chunk on a device that excludes it"
	is "$(fill e 1500)" all "$p: space again"
	is "$(sums)" "$sum" "$p: contents"
	try "$p: scrub finds no error" lab_scrub
	try "$p: unmount" umount "$LAB_MNT"
	try "$p: btrfs check" btrfs check /dev/labda
}

c=/dev/labdc d=/dev/labdd e=/dev/labde
variant single $c
variant dup $c
variant raid1 $c $d
variant raid1c3 $c $d $e
variant raid10 $c $d
done_testing
