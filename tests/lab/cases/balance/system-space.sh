#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk ssd:size=1G,seed=1 --disk ssd:size=333M,seed=2 --disk ssd:size=333M,seed=3
#
# System chunks are relocated though the devices have less space left than a data chunk takes.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

try mkfs lab_mkfs single/raid1c3 /dev/labda /dev/labdb /dev/labdc || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'balance of metadata and system chunks' btrfs -q balance start -f -m "$LAB_MNT"
try 'another one' btrfs -q balance start -f -s "$LAB_MNT"
try 'unmount' umount "$LAB_MNT"
done_testing
