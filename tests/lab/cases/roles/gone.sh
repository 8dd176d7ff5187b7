#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk ssd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3 --disk hdd:size=2G,seed=4
#
# A disk disappears under a mounted file system and is replaced: the sums over devices are right
# afterwards. Chunks show it, which are at most a tenth of what is writeable, rounded up to 16 MiB.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# MiB of each chunk of data, in the order of their addresses: new ones come last.
chunks() {
	lab_chunks /dev/labda | awk '$1 == "DATA" { print int($3 / 1048576) }'
}

try 'an array' lab_mkfs raid1/raid1 /dev/labd{a,b,c} || bail_out 'no array'
try 'mount' lab_mount /dev/labda || bail_out 'no mount'
lab_fill "$LAB_MNT/f" 100
sync -f "$LAB_MNT"
try 'a disk disappears' lab_pull /dev/labdb
lab_fill "$LAB_MNT/g" 100
sync -f "$LAB_MNT"
try 'it is replaced' btrfs replace start -Bf 2 /dev/labdd "$LAB_MNT"
largest=$(chunks | sort -n | tail -n 1) before=$(chunks | wc -l)
lab_fill "$LAB_MNT/h" 1200
sync -f "$LAB_MNT"
is "$(chunks | tail -n +$((before + 1)) | sort -u)" "$largest" 'each new chunk is as large as the largest before'
try 'writeable' lab_writable
try 'unmount' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
