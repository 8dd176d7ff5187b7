#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=600M,seed=1 --disk ssd:size=600M,seed=2
# lab: --disk hdd:size=3G,seed=3 --disk hdd:size=3G,seed=4
#
# SSDs that data has filled, metadata on the hard disks, roles that exclude
# nothing: a balance of metadata finds no space there, this one makes it.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"

# Data on the SSDs to the last chunk, then the hard disks come, and metadata goes there.
fill() {
	lab_fill "$LAB_MNT/first" 450 &&
	btrfs -q device add -f /dev/labdc /dev/labdd "$LAB_MNT" &&
	btrfs -q device policy tag metadata-only 3 4 "$LAB_MNT" --force &&
	btrfs -q device policy tag data-only 1 2 "$LAB_MNT" --force &&
	btrfs balance start --force -m -s "$LAB_MNT" >/dev/null &&
	btrfs -q device policy tag data-preferred 1 2 3 4 "$LAB_MNT" &&
	history 3 &&
	lab_fill "$LAB_MNT/more" 120 7 && sync
}

metadata_on() {	# DEVID...
	usage "[.devices[] | select(.devid | IN($(IFS=,; echo "$*"))) | .[\"metadata-bytes\"]] | add"
}

try 'mkfs on the SSDs' lab_mkfs raid1 /dev/labda /dev/labdb || bail_out mkfs
try 'mount' lab_mount /dev/labda || bail_out mount
try 'SSDs full of data, metadata on the hard disks' fill || bail_out fill
is "$(metadata_on 1 2)" 0 'no metadata is on an SSD'
usage '.devices[] | "\(.path) data \(.["data-bytes"]) metadata \(.["metadata-bytes"]) unallocated \(.unallocated)"' | sed 's/^/# /'
sums >/tmp/before
try 'SSDs prefer metadata' btrfs -q device policy tag metadata-preferred 1 2 "$LAB_MNT"
is "$(verdict)" 64 'something is misplaced'
btrfs --dry-run balance --preferred-metadata "$LAB_MNT" | sed 's/^/# /'
preferred >/tmp/said 2>&1
is $? 0 'balance --preferred-metadata'
# What stays misplaced is said here, with the reason.
sed 's/^/# /' /tmp/said
is "$(verdict)" 0 'usage -c is content'
is "$(metadata_on 3 4)" 0 'all metadata is on the SSDs'
nothing_lost /dev/labda
done_testing
