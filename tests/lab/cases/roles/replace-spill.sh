#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk ssd:size=1G,seed=2 --disk ssd:size=1G,seed=3 --disk hdd:size=1G,seed=4
# lab: --disk hdd:size=1G,seed=5 --disk ssd:size=1G,seed=6 --disk hdd:size=1G,seed=7
#
# A replace that cannot do without chunks on devices that exclude them: RAID6
# metadata must be read-only while it is copied, and two of three SSDs are too few
# for a new chunk. Such chunks are reported, and can be moved back.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

allocation() {	# FILE: the figure for metadata and system
	cat "$(lab_sysfs)"/allocation/{metadata,system}/"$1" | paste -sd+ | bc
}

try mkfs lab_mkfs raid1/raid6 $(lab_disks | head -5) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'SSDs for metadata' btrfs -q device policy tag metadata-only nonrotational "$LAB_MNT"
try 'hard disks for data' btrfs -q device policy tag data-only rotational "$LAB_MNT"
try 'chunks follow' btrfs balance --preferred-metadata "$LAB_MNT"
lab_small_files "$LAB_MNT/small" 1500 1500 3000 >/dev/null
sum=$(cd "$LAB_MNT/small" && sha256sum ./* | sha256sum)
try unmount umount "$LAB_MNT"
lab_wipe /dev/labdb
btrfs device scan >/dev/null
try 'mount degraded' lab_mount /dev/labda degraded || bail_out 'mount degraded'
dmesg -C
try 'replace' btrfs replace start -B -f -K 2 /dev/labdf "$LAB_MNT"
diag "$(dmesg)"
try 'writable' lab_writable
in_range "$(allocation spilled_chunks)" 1 4 'chunks that the replace spilled are counted'
in_range "$(dmesg | grep -c 'no device with space for writes while block group')" 1 4 'and logged'
try 'unmount' umount "$LAB_MNT"
btrfs device scan --forget
btrfs device scan >/dev/null
try 'mount, not degraded' lab_mount /dev/labda || bail_out 'mount, not degraded'
try 'move them back' btrfs balance --preferred-metadata "$LAB_MNT"
is "$(allocation misplaced_bytes)" 0 'nothing is on devices that exclude it'
is "$(cd "$LAB_MNT/small" && sha256sum ./* | sha256sum)" "$sum" 'contents'
try 'scrub finds no error' lab_scrub

# Data that is yet to be written needs the space of the block group that is copied.
rm -r "$LAB_MNT/small"
n=0
while fallocate -l 64M "$LAB_MNT/d$n" 2>/dev/null; do n=$((n + 1)); done
rm "$LAB_MNT"/d{0,1,2}
sync
dmesg -C
rm -f /tmp/stop
for i in 1 2 3; do
	while [ ! -e /tmp/stop ]; do
		dd if=/dev/zero of="$LAB_MNT/w$i" bs=1M count=100
	done 2>/dev/null &
done
sleep 2
try 'replace a full data disk under load' btrfs replace start -B -f -K 4 /dev/labdg "$LAB_MNT"
touch /tmp/stop
wait
diag "$(dmesg)"
try 'writable to the end' lab_writable
diag "data chunks spilled: $(cat "$(lab_sysfs)/allocation/data/spilled_chunks")"
try 'unmount at the end' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
