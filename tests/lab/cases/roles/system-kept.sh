#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk ssd:size=240M,seed=3
#
# A new system chunk goes into the space that an SSD for metadata keeps for it, though hard disks
# have more.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

for profile in single dup; do
	try "$profile: mkfs" eval lab_fresh '&&' lab_mkfs single/$profile /dev/labda /dev/labdb /dev/labdc || bail_out mkfs
	try "$profile: mount" lab_mount /dev/labda || bail_out mount
	try "$profile: the SSD takes metadata" btrfs -q device policy tag metadata-preferred 3 "$LAB_MNT"
	lab_small_files "$LAB_MNT/small" 120000 1500 >/dev/null
	sync
	is "$(lab_devids /dev/labda METADATA | grep -c '[12]')" 1 "$profile: metadata needs the disks, too"
	try "$profile: a new system chunk" btrfs -q balance start -f -s "$LAB_MNT"
	is "$(lab_devids /dev/labda SYSTEM)" 3 "$profile: it is on the SSD"
	try "$profile: unmount" umount "$LAB_MNT"
done
done_testing
