#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=1G,seed=1 --disk ssd:size=2G,seed=2
#
# df and dynamic reclaim see what data can get, and data stays off a metadata-only SSD when its disk is full.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# MiB that df says are free.
available() {
	df -m --output=avail "$LAB_MNT" | tail -n 1
}

try mkfs lab_mkfs single $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
before=$(available)
try 'the SSD for metadata' btrfs -q device policy tag metadata-only nonrotational "$LAB_MNT"
after=$(available)
in_range $((before - after)) 1700 2100 'df no longer counts the SSD'
lab_stream 1 4000 2>/dev/null | dd of="$LAB_MNT/f" bs=1M iflag=fullblock 2> /tmp/err
is "$(grep -o 'No space.*' /tmp/err)" 'No space left on device' 'the hard disk is full'
in_range $(($(stat -c %s "$LAB_MNT/f") >> 20)) $((after * 9 / 10)) $((after * 11 / 10)) "after what df promised ($after MiB)"
is "$(lab_chunks /dev/labda | grep ^DATA | cut -d' ' -f4- | sort -u)" 1 'no data is on the SSD'
# Half of each chunk is free: with the SSD counted, a third of the target is lacking.
rm "$LAB_MNT/f"
sync
for file in $(seq $((after / 8))); do
	lab_fill "$LAB_MNT/small.$file" 8 "$file" 2>/dev/null || break
done
sync
rm "$LAB_MNT"/small.*[13579]
sync
data=$(lab_sysfs)/allocation/data
echo 1 > "$data/dynamic_reclaim"
in_range "$(cat "$data/bg_reclaim_threshold")" 90 100 'dynamic reclaim counts what data can get'
echo 0 > "$data/dynamic_reclaim"
try 'another role' btrfs -q device policy tag data-preferred 2 "$LAB_MNT"
try 'and more fits at once' lab_fill "$LAB_MNT/g" 300 2
sync
is "$(lab_chunks /dev/labda | grep ^DATA | cut -d' ' -f4- | sort -u | xargs)" '1 2' 'on the SSD'
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
