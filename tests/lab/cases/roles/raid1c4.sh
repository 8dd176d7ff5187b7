#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk hdd:size=1G,seed=1 --disk ssd:size=1G,seed=2 --disk ssd:size=1G,seed=3 --disk ssd:size=1G,seed=4 --disk ssd:size=1G,seed=5
#
# RAID1C4 needs four devices: when the fourth SSD comes, the chunk on three and a disk is left alone.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

try 'an array' lab_mkfs raid1/raid1c4 /dev/labd{a,b,c,d} || bail_out 'no array'
try 'mount' lab_mount /dev/labda || bail_out 'no mount'
try 'SSDs for metadata' btrfs -q device policy tag metadata-preferred nonrotational "$LAB_MNT"
try 'a fourth SSD' btrfs -q device policy add metadata-preferred /dev/labde "$LAB_MNT"
is "$(lab_small_files "$LAB_MNT/d" 2000 1500 12000)" all 'small files'
sync -f "$LAB_MNT"
is "$(lab_chunks /dev/labda | sed -n 's/^METADATA RAID1C4 [0-9]* //p' | xargs -n1 | sort | xargs)" '1 2 2 3 3 4 4 5' \
	'a chunk on the SSDs'
try 'unmount' umount "$LAB_MNT"
done_testing
