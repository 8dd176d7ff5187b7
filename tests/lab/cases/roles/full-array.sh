#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=600M,seed=1 --disk hdd:size=600M,seed=2
# lab: --disk ssd:size=500M,seed=3 --disk ssd:size=500M,seed=4 --disk hdd:size=2500M,seed=5
#
# Arrays that are all but full: a balance of metadata that finds no space for two
# copies fails and aborts nothing; a system block group moves into the space that
# is kept for it.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# MiB of the device that no chunk has.
unallocated() {
	btrfs --format json device policy usage "$LAB_MNT" |
		jq ".[keys[1]].devices[] | select(.devid == $1) | .unallocated / 1048576 | floor"
}

# Devids with a part of a system chunk.
system_on() {
	lab_chunks "$1" | grep ^SYSTEM | cut -d' ' -f4- | xargs -n1 | sort -u | xargs
}

try 'one disk left: mkfs' lab_mkfs raid1 /dev/labda /dev/labdb /dev/labde || bail_out mkfs
try 'one disk left: mount' lab_mount /dev/labda || bail_out mount
try 'one disk left: a role' btrfs -q device policy tag metadata-preferred 3 "$LAB_MNT"
try 'one disk left: all that data can get' lab_take_all "$LAB_MNT/data"
sync
in_range "$(unallocated 1)" 0 8 'one disk left: devid 1 is full'
in_range "$(unallocated 2)" 0 8 'one disk left: devid 2 is full'
in_range "$(unallocated 3)" 1000 2500 'one disk left: devid 3 is not'
# With something to commit at several moments of it.
for moment in 0 0.005 0.01 0.02 0.03; do
	lab_small_files "$LAB_MNT/small" 2000 1500 >/dev/null
	sync
	(sleep $moment; rm -rf "$LAB_MNT/small") &
	refuse "one disk left: metadata finds no space for two copies, files deleted after $moment s" \
		btrfs balance start -m "$LAB_MNT"
	wait
done
try 'one disk left: still writable' touch "$LAB_MNT/file"
sync
try 'one disk left: no transaction is aborted' lab_writable

try 'no space but that for system: nothing of it stays' lab_fresh
try 'no space but that for system: mkfs' lab_mkfs raid1 /dev/labda /dev/labdb || bail_out mkfs
try 'no space but that for system: mount' lab_mount /dev/labda || bail_out mount
is "$(system_on /dev/labda)" '1 2' 'no space but that for system: it is on the hard disks'
try 'no space but that for system: the SSDs come' btrfs -q device add -f /dev/labdc /dev/labdd "$LAB_MNT"
try 'no space but that for system: they prefer metadata' btrfs -q device policy tag metadata-preferred 3 4 "$LAB_MNT"
try 'no space but that for system: all that data can get' lab_take_all "$LAB_MNT/data"
sync
in_range "$(unallocated 3)" 16 24 'no space but that for system: 16 MiB are left of devid 3'
in_range "$(unallocated 4)" 16 24 'no space but that for system: 16 MiB are left of devid 4'
try 'no space but that for system: it moves' btrfs balance start --force -s "$LAB_MNT"
is "$(system_on /dev/labda)" '3 4' 'no space but that for system: it is on the SSDs'
try 'no space but that for system: still writable' lab_writable
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
