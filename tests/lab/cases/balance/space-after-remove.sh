#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk hdd:size=2G,seed=1 --disk ssd:size=1G,seed=2 --disk ssd:size=2G,seed=3
#
# The chunks of a removed device are not unallocated space.  If the kernel counts them,
# replace makes the only metadata block group of a full file system read-only, though
# there is no space for another one, and the next commit is aborted.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

make_array() {
	mkfs.btrfs -q -f -K -d single -m dup /dev/labda &&
		mount /dev/labda "$LAB_MNT" &&
		fallocate -l 100M "$LAB_MNT/first" &&
		btrfs -q device add -f -K /dev/labdb "$LAB_MNT" &&
		btrfs -q device remove /dev/labda "$LAB_MNT"
}

try 'an array of one small device, after the removal of a large one' make_array || bail_out 'no array'
try 'it is full' lab_take_all "$LAB_MNT/full"
btrfs filesystem usage -b "$LAB_MNT" | sed 's/^/# /'
lab_start_commits
try 'a larger device takes the place of the full one' btrfs replace start -f -B 2 /dev/labdc "$LAB_MNT"
lab_stop_commits
try 'the file system is writeable' lab_commit
try 'unmount' umount "$LAB_MNT"
done_testing
