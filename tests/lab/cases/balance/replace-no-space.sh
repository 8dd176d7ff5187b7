#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk ssd:size=1G,seed=1 --disk ssd:size=1G,seed=2 --disk hdd:size=8G,seed=3
#
# A disk of a full RAID1 is replaced. There is one metadata block group and no space for
# another one, so it is copied while it is writeable, with writes beside it.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

read_all() {
	find "$LAB_MNT/files" -type f -exec cat {} + >/dev/null
}

try 'a RAID1' lab_mkfs raid1 /dev/labda /dev/labdb || bail_out 'no array'
try 'mount' lab_mount /dev/labda || bail_out 'no mount'
is "$(lab_small_files "$LAB_MNT/files" 5000 2000)" all 'metadata in use'
try 'it is full' lab_take_all "$LAB_MNT/full"
lab_start_commits
try 'a disk is replaced' btrfs replace start -f -B 1 /dev/labdc "$LAB_MNT"
lab_stop_commits
try 'the file system is writeable' lab_writable
try 'writes go on' lab_commit
lab_pull labdb
umount "$LAB_MNT"
try 'the new disk has all of it' lab_mount /dev/labdc degraded,ro
try 'every file is readable' read_all
try 'unmount' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labdc
done_testing
