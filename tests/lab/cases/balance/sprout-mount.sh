#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk ssd:size=400M,seed=1 --disk ssd:size=400M,seed=2 --disk ssd:size=600M,seed=3 --disk ssd:size=600M,seed=4
#
# The first device of a sprout has metadata without copies. With a second one the profile is the
# seed's, with copies, but there may be no space for it. A mount must leave what there is writeable.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

seed() {
	mkfs.btrfs -q -f -K -d raid1 -m raid1 /dev/labda /dev/labdb && mount /dev/labda "$LAB_MNT" &&
		touch "$LAB_MNT/old" && umount "$LAB_MNT" && btrfstune -S 1 /dev/labda
}

# The first device is full before there is another.
sprout() {
	mount /dev/labda "$LAB_MNT" && btrfs -q device add -f -K /dev/labdc "$LAB_MNT" && mount -o remount,rw "$LAB_MNT" || return
	lab_take_all "$LAB_MNT/data" || return
	sync -f "$LAB_MNT" && btrfs -q device add -f -K /dev/labdd "$LAB_MNT"
}

written() {
	[ "$(lab_small_files "$LAB_MNT/new" 500 0 1000)" = all ] && sync -f "$LAB_MNT"
}

try 'a seed' seed || bail_out seed
try 'a sprout of two devices' sprout
try 'unmount' umount "$LAB_MNT"
try 'mount' mount /dev/labdc "$LAB_MNT"
try 'empty files with attributes' written
try 'unmount again' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labdc
try 'mount again' mount /dev/labdc "$LAB_MNT"
is "$(find "$LAB_MNT/new" -type f | wc -l)" 500 'the files are there'
umount "$LAB_MNT"
done_testing
