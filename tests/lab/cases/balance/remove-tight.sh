#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk ssd:size=512M,seed=1 --disk hdd:size=128M,seed=2 --disk hdd:size=4G,seed=3
#
# Removing a device moves data and then metadata to the others. The space that the data gave up
# there is free after the next commit; if metadata is let rely on it before, that commit is aborted.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

try 'an array' lab_mkfs raid1/raid1 /dev/labda /dev/labdc || bail_out 'no array'
try 'mount' lab_mount /dev/labda || bail_out 'no mount'
try 'a small disk' btrfs -q device add -K /dev/labdb "$LAB_MNT"
lab_small_files "$LAB_MNT/d" 20 1000 3000 >/dev/null
try 'the large disk is removed' btrfs device remove 2 "$LAB_MNT"
try 'writeable' lab_writable
try 'more files' eval '[ "$(lab_small_files "$LAB_MNT/e" 200 1500 12000)" = all ]'
try 'unmount' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
