#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=160M,seed=1 --disk ssd:size=160M,seed=2 --disk hdd:size=320M,seed=3 --disk hdd:size=320M,seed=4
#
# One of two metadata-only SSDs is gone: the file system mounts, the rest obeys
# the roles, what cannot be stored is ENOSPC, and roles can be relaxed.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

role() {
	btrfs device policy get role "$1" "$LAB_MNT"
}

try mkfs lab_mkfs raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'SSDs for metadata' btrfs -q device policy tag metadata-only nonrotational "$LAB_MNT"
try 'hard disks for data' btrfs -q device policy tag data-only rotational "$LAB_MNT"
try 'balance' btrfs balance --preferred-metadata "$LAB_MNT"
is "$(lab_chunks /dev/labda | grep -v ^DATA | cut -d' ' -f4- | xargs -n1 | sort -u | xargs)" '1 2' 'metadata is on the SSDs'
lab_fill "$LAB_MNT/f" 10
sum=$(lab_sum "$LAB_MNT/f")
try unmount umount "$LAB_MNT"
try 'an SSD is pulled out' lab_pull /dev/labdb
btrfs device scan --forget
btrfs device scan >/dev/null
try 'mount degraded' lab_mount /dev/labda degraded || bail_out mount
is "$(role 2)" metadata-only 'the missing device keeps its role'
is "$(lab_sum "$LAB_MNT/f")" "$sum" 'contents are there'
dmesg -C
is "$(lab_small_files "$LAB_MNT/d" 1000000 1500 12000)" 'No space left on device' 'metadata does not go to the hard disks'
sync
try 'still writable' lab_writable
try 'the hard disks take metadata, too' btrfs -q device policy tag data-preferred 3 4 "$LAB_MNT"
is "$(lab_small_files "$LAB_MNT/e" 300 1500 12000)" all 'then there is space'
sync
try 'writable to the end' lab_writable
try 'another role for the missing device' btrfs -q device policy tag data-preferred 2 "$LAB_MNT"
is "$(role 2)" data-preferred 'is stored'
try unmount umount "$LAB_MNT"
try 'mount again' lab_mount /dev/labda degraded
is "$(role 1) $(role 2) $(role 3)" 'metadata-only data-preferred data-preferred' 'all roles are kept'
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
