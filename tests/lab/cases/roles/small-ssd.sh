#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=256M,seed=1 --disk ssd:size=256M,seed=2 --disk hdd:size=2G,seed=3 --disk hdd:size=2G,seed=4 --disk ssd:size=400M,seed=5
#
# SSDs that one metadata chunk of the usual size would fill: chunks get smaller
# there and leave space for a system chunk, so that all that is misplaced goes
# there in any order.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

try mkfs lab_mkfs raid1 /dev/labd[a-d] || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'SSDs for metadata' btrfs -q device policy tag metadata-only nonrotational "$LAB_MNT"
try 'hard disks for data' btrfs -q device policy tag data-only rotational "$LAB_MNT"
try 'balance --preferred-metadata' btrfs balance --preferred-metadata "$LAB_MNT"
try 'nothing is misplaced' btrfs device policy usage -c "$LAB_MNT"
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda

for profile in dup single; do
	lab_fresh || bail_out fresh
	try "$profile: mkfs" lab_mkfs single/$profile /dev/labdc /dev/labde || bail_out mkfs
	try "$profile: mount" lab_mount /dev/labdc || bail_out mount
	try "$profile: a disk for data, an SSD for metadata" eval 'btrfs -q device policy tag metadata-only nonrotational "$LAB_MNT" &&
		btrfs -q device policy tag data-only rotational "$LAB_MNT"'
	try "$profile: balance --preferred-metadata" btrfs balance --preferred-metadata "$LAB_MNT"
	try "$profile: nothing is misplaced" btrfs device policy usage -c "$LAB_MNT"
	# What mkfs made is not cut that way.
	try "$profile: chunks of this kernel" btrfs balance start -m "$LAB_MNT"
	is "$(lab_chunks /dev/labdc | awk '$1 == "METADATA" { print ($3 > 48 * 2^20) }' | sort -u)" 0 "$profile: chunks of a tenth of the SSD"
	try "$profile: unmount" umount "$LAB_MNT"
	try "$profile: btrfs check" btrfs check /dev/labdc
done
done_testing
