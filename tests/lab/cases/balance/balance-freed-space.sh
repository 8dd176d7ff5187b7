#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk ssd:size=512M,seed=1 --disk ssd:size=1G,seed=2 --disk ssd:size=512M,seed=3 --disk ssd:size=512M,seed=4
#
# A full balance of a small array: the space for a chunk in place of the last metadata
# block group is what an earlier move of the same balance freed, before a commit.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

make_array() {
	mkfs.btrfs -q -f -K -n 32768 -d raid1c4 -m raid1c3 /dev/labda /dev/labdb /dev/labdc /dev/labdd &&
		mount /dev/labda "$LAB_MNT"
}

try 'an array of four small devices' make_array || bail_out 'no array'
try 'a file' eval "head -c 20M /dev/urandom >'$LAB_MNT/file' && sync"
try 'everything is balanced' btrfs balance start --full-balance "$LAB_MNT"
try 'the file system is writeable' lab_writable
try 'unmount' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
