#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=4G,seed=1 --disk hdd:size=4G,seed=2 --disk hdd:size=4G,seed=3
# lab: --disk ssd:size=256M,seed=4 --disk ssd:size=256M,seed=5
#
# df shows no space when no file can be created: small metadata-only SSDs are full
# of metadata while the data-only disks are empty.  Also after a mount, when no
# allocation has failed yet, and not any more once something has been deleted.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

available() {
	df --output=avail -B1 "$LAB_MNT" | tail -n 1 | tr -d ' '
}

try mkfs lab_mkfs raid1 /dev/labda /dev/labdb /dev/labdc /dev/labdd /dev/labde || bail_out mkfs
try mount lab_mount /dev/labda
try 'SSDs for metadata' btrfs -q device policy tag metadata-only nonrotational "$LAB_MNT"
try 'disks for data' btrfs -q device policy tag data-only rotational "$LAB_MNT"
try 'metadata goes there' btrfs balance start --force -m "$LAB_MNT"
in_range "$(available)" $((5 << 30)) $((6 << 30)) 'at first half of the disks is available'

is "$(lab_small_files "$LAB_MNT/d" 1000000 1500 12000)" 'No space left on device' 'metadata is full'
sync
refuse 'no file can be created' touch "$LAB_MNT/new"
is "$(available)" 0 'nothing is available'
try unmount umount "$LAB_MNT"
try 'mount again' lab_mount /dev/labda
is "$(available)" 0 'nothing is available after a mount'

rm -rf "$LAB_MNT/d"
sync
btrfs filesystem sync "$LAB_MNT"
in_range "$(available)" $((5 << 30)) $((6 << 30)) 'space is available when the files are gone'
try 'a file can be created' touch "$LAB_MNT/new"
try 'unmount again' umount "$LAB_MNT"
done_testing
