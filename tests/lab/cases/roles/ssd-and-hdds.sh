#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=6G,seed=1 --disk hdd:size=6G,seed=2 --disk hdd:size=6G,seed=3 --disk ssd:size=2G,seed=4
#
# One SSD and three hard disks, all RAID1: every metadata chunk has one copy on
# the SSD, data has none there, and misplaced_bytes counts what other roles make wrong.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

misplaced() {
	cat "$(lab_sysfs)"/allocation/{data,metadata,system}/misplaced_bytes | xargs
}

# bytes KIND: of all its chunks, one copy
bytes() {
	awk -v kind="$1" '$1 == kind { sum += $3 } END { print sum + 0 }' /tmp/chunks
}

# Chunks of a kind with the SSD among their devices, and without.
on_ssd() {
	awk -v kind="$1" '$1 == kind { if ((" " $0 " ") ~ / 4 /) with++; else without++ }
		END { print with + 0, without + 0 }' <(cut -d' ' -f1,4- /tmp/chunks)
}

try mkfs lab_mkfs raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'the SSD takes metadata only' btrfs device policy tag metadata-only nonrotational "$LAB_MNT"
for i in 1 2 3; do
	lab_fill "$LAB_MNT/f$i" 100 $i
	try "balance $i" btrfs balance start --force -dusage=100 -musage=100 "$LAB_MNT"
done
lab_chunks /dev/labda > /tmp/chunks
in_range "$(bytes METADATA)" 1 1e12 'there is metadata'
is "$(on_ssd METADATA | cut -d' ' -f2)" 0 'each of its chunks has a copy on the SSD'
is "$(on_ssd SYSTEM | cut -d' ' -f2)" 0 'system chunks, too'
is "$(on_ssd DATA | cut -d' ' -f1)" 0 'no data is there'
is "$(misplaced)" '0 0 0' 'nothing is misplaced'

try 'two disks exclude metadata' btrfs device policy tag --force data-only 1 2 3 "$LAB_MNT"
is "$(misplaced)" "0 $(bytes METADATA) $(bytes SYSTEM)" 'one copy of all metadata is misplaced'
try 'the SSD, too' btrfs device policy tag --force data-only 4 "$LAB_MNT"
is "$(misplaced)" "0 $((2 * $(bytes METADATA))) $((2 * $(bytes SYSTEM)))" 'both copies are'
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
