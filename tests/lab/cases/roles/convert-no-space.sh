#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=2G,seed=1 --disk ssd:size=192M,seed=2 --disk hdd:size=2G,seed=3 --disk hdd:size=2G,seed=4
#
# A conversion of metadata fails if the devices for metadata lack the space. It must not fall back to
# devices that exclude metadata.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

try mkfs lab_mkfs single/dup /dev/labda || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'three devices' btrfs -q device add -f -K /dev/labdb /dev/labdc /dev/labdd "$LAB_MNT"
try 'roles of the SSDs' btrfs -q device policy tag --force metadata-only 1 2 "$LAB_MNT"
try 'roles of the disks' btrfs -q device policy tag data-only 3 4 "$LAB_MNT"
is "$(lab_small_files "$LAB_MNT/small" 150000 2000)" all 'more metadata than the small SSD can take'
sync
refuse 'a conversion to RAID1 fails for lack of space' btrfs balance start -mconvert=raid1,soft "$LAB_MNT"
is "$(lab_devids /dev/labda METADATA)" '1 2' 'it took none of the disks'
try 'it is writable' lab_writable
try 'commits go on' lab_commit
try 'unmount' umount "$LAB_MNT"
done_testing
