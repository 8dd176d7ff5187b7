#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk ssd:size=420M,seed=1 --disk nvme:size=2G,seed=2 --disk ssd:size=400M,seed=3
#
# A conversion of metadata with space for one chunk on the smaller device: the metadata
# chunk must not take it before there is a system chunk of the new profile.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# Data leaves one hole on the small device, smaller than a metadata chunk may be.
make_hole() {
	mkfs.btrfs -q -f -K -n 65536 -d raid1c3 -m raid1 /dev/labdc /dev/labda /dev/labdb &&
		mount /dev/labda "$LAB_MNT" &&
		btrfs -q balance start -f -dconvert=raid1 "$LAB_MNT" &&
		btrfs -q device remove /dev/labdc "$LAB_MNT"
}

try 'an array whose small device has one hole' make_hole || bail_out 'no array'
try 'metadata is converted' btrfs -q balance start -f -mconvert=raid5 "$LAB_MNT"
is "$(btrfs filesystem df "$LAB_MNT" | grep -E '^(System|Metadata)' | cut -d: -f1 | sort | xargs)" \
	'Metadata, RAID5 System, RAID5' 'and system chunks with it'
try 'the file system is writeable' touch "$LAB_MNT/file"
try 'unmount' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
