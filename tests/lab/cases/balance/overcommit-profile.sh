#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk ssd:size=1G,seed=1 --disk ssd:size=1G,seed=2 --disk ssd:size=1G,seed=3
# lab: --disk hdd:size=8G,seed=4 --disk hdd:size=8G,seed=5 --disk hdd:size=8G,seed=6
# machines: raid1 raid1c3 raid5
#
# A large disk is added to a full file system that needs several devices for a chunk. Alone
# it makes no chunk, so what is unallocated there is no space for metadata. If the kernel
# counts it, scrub or balance makes the only metadata block group read-only, and the next commit is
# aborted. With further disks there is space, and balance succeeds.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

small=(/dev/labda /dev/labdb)
[ "$1" != raid1c3 ] || small+=(/dev/labdc)

try "an array of the profile $1" lab_mkfs "$1" "${small[@]}" || bail_out 'no array'
try 'mount' lab_mount /dev/labda || bail_out 'no mount'
is "$(lab_small_files "$LAB_MNT/files" 20000 2000)" all 'metadata in use'
try 'it is full' lab_take_all "$LAB_MNT/full"
try 'a large disk is added' btrfs -q device add -f -K /dev/labdd "$LAB_MNT"
btrfs filesystem usage -T "$LAB_MNT" | sed 's/^/# /'
lab_start_commits
# RAID5 must be read-only for scrub, so it may refuse.
if [ "$1" = raid5 ]; then
	btrfs scrub start -B "$LAB_MNT" >/dev/null 2>&1
else
	try 'scrub' lab_scrub
fi
refuse 'balance of metadata finds no space' btrfs balance start -m "$LAB_MNT"
lab_stop_commits
try 'the file system is writeable' lab_writable
try 'writes go on' lab_commit
try 'two further disks are added' btrfs -q device add -f -K /dev/labde /dev/labdf "$LAB_MNT"
try 'balance of metadata finds space' btrfs balance start -m "$LAB_MNT"
try 'writes go on again' lab_commit
try 'unmount' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
