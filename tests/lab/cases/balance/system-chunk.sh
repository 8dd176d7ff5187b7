#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk hdd:size=1G,seed=1 --disk ssd:size=333M,seed=2 --disk hdd:size=333M,seed=3
#
# The system chunk of a small file system is relocated although less than a data chunk is
# unallocated: no space is kept for data before it.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
devices=(/dev/labda /dev/labdb /dev/labdc)

try 'an array' mkfs.btrfs -q -f -K -d single -m raid1c3 "${devices[@]}" || bail_out 'no array'
try 'mount' lab_mount /dev/labda || bail_out 'no mount'
before=$(lab_chunks /dev/labda | grep -ci system)
is "$before" 1 'it has one system chunk'
try 'balance of metadata and system chunks' btrfs balance start -m -f "$LAB_MNT"
btrfs filesystem usage -T "$LAB_MNT" | sed 's/^/# /'
try 'writes go on' lab_commit
try 'unmount' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
