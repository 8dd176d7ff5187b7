#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=500M,seed=1 --disk hdd:size=4G,seed=2 --disk hdd:size=4G,seed=3 --disk ssd:size=2G,seed=4
#
# The SSD for metadata is full, each chunk of RAID1 has its second copy on a disk, and
# another SSD is added, as the advice is: the chunks move to both SSDs.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
space=$(lab_sysfs)/allocation

# Devices of metadata chunks, how many chunks each
pairs() {
	lab_chunks /dev/labda | awk '$1 == "METADATA" { print $4, $5 }' | sort | uniq -c | xargs
}

try mkfs lab_mkfs raid1/raid1 /dev/labda /dev/labdb /dev/labdc || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'the SSD prefers metadata' btrfs -q device policy tag metadata-preferred 1 "$LAB_MNT"
try 'metadata goes there' btrfs balance --preferred-metadata "$LAB_MNT"
n=0
while [ "$(btrfs --format json device policy usage "$LAB_MNT" |
	jq '[.[keys[1]].devices[] | select(.devid == 1) | .unallocated] | add')" -gt $((40 << 20)) ] && [ $n -lt 60 ]; do
	lab_small_files "$LAB_MNT/d$n" 4000 1500 3000 >/dev/null
	sync
	n=$((n + 1))
done
diag "$(pairs)"
try 'another SSD' btrfs -q device add -f -K /dev/labdd "$LAB_MNT"
try 'it prefers metadata, too' btrfs -q device policy tag metadata-preferred 4 "$LAB_MNT"
misplaced=$(cat "$space/metadata/misplaced_bytes")
[ "$misplaced" -gt $((200 << 20)) ]
result $? "more than one chunk is misplaced: $((misplaced >> 20)) MiB"
try 'metadata moves to both' btrfs balance --preferred-metadata "$LAB_MNT"
diag "$(pairs)"
is "$(cat "$space/metadata/misplaced_bytes")" 0 'no metadata is misplaced'
try 'writable' lab_writable
try 'unmount' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
