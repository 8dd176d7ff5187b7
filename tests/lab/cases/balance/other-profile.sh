#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk ssd:size=1200M,seed=1 --disk ssd:size=800M,seed=2
#
# A conversion that is not at its end leaves chunks of two profiles. What was reserved in
# those of the old one must be written there if there is no space for the new one.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# Single data on all but 320 MiB, a quarter of every chunk in use, and one chunk converted.
half_converted_data() {
	local i

	mkfs.btrfs -q -f -K -d single -m raid1 /dev/labda /dev/labdb && mount /dev/labda "$LAB_MNT" || return
	for ((i = 0; i < 90; i++)); do
		fallocate -l 16M "$LAB_MNT/$i" || return
	done
	sync -f "$LAB_MNT"
	for ((i = 0; i < 90; i++)); do
		((i % 4 == 0)) || rm "$LAB_MNT/$i" || return
	done
	sync -f "$LAB_MNT"
	btrfs -q balance start -dconvert=raid1,limit=1 "$LAB_MNT"
}

# More than a RAID1 chunk on what is unallocated can take.
write_data() {
	local i

	for ((i = 0; i < 40; i++)); do
		lab_fill "$LAB_MNT/new$i" 16 "$i" || return
	done
	(cd "$LAB_MNT" && sha256sum new*) > /tmp/sums && sync -f "$LAB_MNT"
}

# Single metadata in a small chunk and a large one, data on all the rest; the devices become
# 48 MiB larger, and the small chunk is converted, with space for a system chunk or without.
half_converted_metadata() {
	mkfs.btrfs -q -f -K -d single -m single /dev/labda /dev/labdb >/dev/null 2>&1 && mount -o max_inline=2048 /dev/labda "$LAB_MNT" &&
		btrfs -q filesystem resize 1:900M "$LAB_MNT" && btrfs -q filesystem resize 2:600M "$LAB_MNT" &&
		small_files old 20000 && sync -f "$LAB_MNT" || return
	while fallocate -l 16M "$(mktemp "$LAB_MNT/data.XXXXXX")" 2>/dev/null; do :; done
	sync -f "$LAB_MNT" && btrfs -q filesystem resize 1:948M "$LAB_MNT" && btrfs -q filesystem resize 2:648M "$LAB_MNT" &&
		{ btrfs balance start -f -mconvert=raid1,vrange=0..67108864 "$LAB_MNT" >/dev/null 2>&1 || true; }
}

# small_files DIR COUNT: inline, a leaf has seven of them
small_files() {
	[ "$(lab_small_files "$LAB_MNT/$1" "$2" 2000)" = all ]
}

# Clean, and there after a mount.
readable() {
	umount "$LAB_MNT" && btrfs check /dev/labda >/tmp/check 2>&1 && mount /dev/labda "$LAB_MNT" && "$@"
}

is_half() {
	is "$(btrfs filesystem df "$LAB_MNT" | grep -c "^$1")" 2 "there is $1 of two profiles"
}

try 'data: an array of which a part is converted' half_converted_data
is_half Data
try 'what is written beyond the space of the new profile comes to disk' write_data
try 'and is there after a mount' readable eval 'cd "$LAB_MNT" && sha256sum --quiet -c /tmp/sums; s=$?; cd /; (exit $s)'
umount "$LAB_MNT"
try 'metadata: an array of which a part is converted' half_converted_metadata
is_half Metadata
try 'more metadata than the new profile has space for' small_files new 20000
try 'comes to disk' sync -f "$LAB_MNT"
try 'and is there after a mount' readable eval '[ "$(find "$LAB_MNT/new" -type f | wc -l)" = 20000 ]'
umount "$LAB_MNT"
done_testing
