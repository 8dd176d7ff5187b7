#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=256M,seed=1 --disk ssd:size=256M,seed=2 --disk hdd:size=2G,seed=3 --disk hdd:size=2G,seed=4
#
# SSDs that one metadata chunk of full size would fill: what is misplaced has
# room on them, so the balance has to find an order in which it goes there.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

try mkfs lab_mkfs raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'SSDs for metadata' btrfs -q device policy tag metadata-only nonrotational "$LAB_MNT"
try 'hard disks for data' btrfs -q device policy tag data-only rotational "$LAB_MNT"
todo='# TODO one metadata chunk fills a small SSD and leaves no room for the system chunk'
try "balance --preferred-metadata $todo" btrfs balance --preferred-metadata "$LAB_MNT"
try "nothing is misplaced $todo" btrfs device policy usage -c "$LAB_MNT"
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
