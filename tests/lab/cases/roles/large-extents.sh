#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk hdd:size=6G,seed=1 --disk hdd:size=6G,seed=2
# lab: --disk ssd:size=6G,seed=3 --disk ssd:size=6G,seed=4
#
# An allocation in advance makes extents of 256 MiB, and balance moves each in one piece. On disks
# that are all but full it must not get a chunk that is too small for them.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

try 'an array' mkfs.btrfs -q -f -K -d raid1 -m raid1 /dev/labd{a,b,c,d} || bail_out 'no array'
try 'mount' lab_mount /dev/labda || bail_out 'no mount'
try 'SSDs for metadata' btrfs device policy tag metadata-preferred nonrotational "$LAB_MNT"
try 'a file of extents of 256 MiB' fallocate -l 3G "$LAB_MNT/file"
lab_commit
for id in 1 2; do
	used=$(btrfs device usage -b "$LAB_MNT" | awk '/, ID: /{id = $NF} /,/ && !/ID:/{used[id] += $NF} END {printf "%d", used['$id']}')
	try "disk $id keeps 200 MiB" btrfs -q filesystem resize "$id:$((used + (201 << 20)))" "$LAB_MNT"
done
btrfs filesystem usage -T "$LAB_MNT" | sed 's/^/# /'
try 'balance of data' btrfs balance start -d "$LAB_MNT"
btrfs filesystem usage -T "$LAB_MNT" | sed 's/^/# /'
try 'unmount' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
