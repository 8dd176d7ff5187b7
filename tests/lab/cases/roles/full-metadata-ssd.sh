#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2T,seed=1 --disk hdd:size=2T,seed=2
# lab: --disk ssd:size=160M,seed=3 --disk ssd:size=128M,seed=4
#
# Metadata-only SSDs that are full beside hard disks that are free: writers get
# ENOSPC, the file system stays writable, and there is a way out.  With
# LAB_ALL_PROFILES not only for the single profile.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
enospc='No space left on device'

# Small files until there is no space for their metadata.
fill() {
	lab_small_files "$LAB_MNT/$1" "${2:-1000000}" 1500 12000
	sync
}

# More of everything that cannot succeed, one after the other and at once.
insist() {
	local i j

	head -c 1500 /dev/urandom > /tmp/small
	for i in 1 2 3; do
		sync
		cp /tmp/small "$LAB_MNT/x$i"
		dd if=/dev/zero of="$LAB_MNT/big$i" bs=1M count=50 status=none
	done
	for j in 1 2 3 4; do
		for i in $(seq 20); do
			cp /tmp/small "$LAB_MNT/p$j-$i"
			truncate -s 0 "$LAB_MNT/d/$i"
			ln "$LAB_MNT/d/$i" "$LAB_MNT/l$j-$i"
		done &
	done 2>/dev/null
	wait
	sync
}

# variant PROFILE SSD...: the whole story with metadata of that profile
variant() {
	local p=$1

	shift
	try "$p: mkfs" eval lab_fresh '&&' lab_mkfs single /dev/labda /dev/labdb "$@" || return
	dmesg -C
	try "$p: mount" lab_mount /dev/labda || return
	try "$p: SSDs take metadata only" btrfs device policy tag metadata-only nonrotational "$LAB_MNT"
	try "$p: hard disks data only" btrfs device policy tag data-only rotational "$LAB_MNT"
	try "$p: metadata goes there" btrfs balance start --force -mconvert="$p" -sconvert="$p" "$LAB_MNT"
	is "$(lab_devids /dev/labda METADATA SYSTEM)" "$(seq -s' ' 3 $(($# + 2)))" "$p: all of it"
	is "$(fill d)" "$enospc" "$p: full"
	try "$p: still writable" lab_writable
	insist 2>/dev/null
	try "$p: after more writes, too" lab_writable
	rm -f "$LAB_MNT"/d/1*
	sync
	try "$p: what was deleted frees space" cp /tmp/small "$LAB_MNT/again"
	is "$(fill e)" "$enospc" "$p: full again"
	try "$p: writable once more" lab_writable
	try "$p: the way out: other roles" btrfs device policy tag data-preferred rotational "$LAB_MNT"
	is "$(fill g 2000)" all "$p: space at once"
	try "$p: writable to the end" lab_writable
	try "$p: unmount" umount "$LAB_MNT"
	try "$p: btrfs check" btrfs check /dev/labda
}

variant single /dev/labdd
if [ -n "${LAB_ALL_PROFILES:-}" ]; then
	variant dup /dev/labdc
	variant raid1 /dev/labdc /dev/labdd
fi
done_testing
