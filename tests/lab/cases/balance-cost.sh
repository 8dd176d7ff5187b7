#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=600M,seed=1 --disk ssd:size=600M,seed=2
# lab: --disk hdd:size=600M,seed=3 --disk hdd:size=600M,seed=4
# lab: --disk ssd:size=604M --disk ssd:size=604M --disk ssd:size=604M --disk ssd:size=604M
#
# What it costs, on one image twice: old metadata on the hard disks, and more on the
# SSDs that came later.  Nothing but what is misplaced is moved, and that once; a
# balance of all metadata writes at least twice as much.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"

# The file system's disks to the other four, 1 MiB into them, so that nobody takes
# them for parts of it; and back.
save() {
	local i

	for i in a-e b-f c-g d-h; do
		dd if=/dev/labd${i%-*} of=/dev/labd${i#*-} bs=1M seek=1 conv=sparse status=none || return
	done
}

load() {
	local i

	for i in a-e b-f c-g d-h; do
		dd if=/dev/labd${i#*-} of=/dev/labd${i%-*} bs=1M skip=1 count=600 status=none || return
	done
}

past() {
	history 2 800 && btrfs -q device add -f /dev/labda /dev/labdb "$LAB_MNT" &&
	roles '3 4' '1 2' && lab_small_files "$LAB_MNT/old" 9000 1500 12000 && sync
}

try 'mkfs on the hard disks' lab_mkfs raid1 /dev/labdc /dev/labdd || bail_out mkfs
try 'mount' lab_mount /dev/labdc || bail_out mount
try 'a past without roles, and one with' past || bail_out past
sums >/tmp/before
umount "$LAB_MNT"
try 'the image is kept' save
lab_mount /dev/labda
misplaced=$(usage '.totals["misplaced-used"]')
usage '.profiles[] | "\(.kind) \(.profile) chunks \(.chunks) used \(.used) misplaced \(.["misplaced-used"])"' | sed 's/^/# /'

lab_reset
out=$(btrfs --format json balance --preferred-metadata "$LAB_MNT") && ok 'balance --preferred-metadata' ||
	not_ok 'balance --preferred-metadata'
sync
ours=$(written)
moved=$(jq '.[keys[1]].report["relocated-used"]' <<<"$out")
is "$(verdict)" 0 'usage -c is content'
in_range "$moved" 1 $((misplaced * 105 / 100)) "bytes relocated, of $misplaced misplaced ones"
sums >/tmp/after
is "$(diff /tmp/before /tmp/after)" '' 'contents are unchanged'
umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda

try 'the image is there again' load
lab_mount /dev/labda || bail_out 'mount of the copy'
is "$(usage '.totals["misplaced-used"]')" "$misplaced" 'and as much is misplaced as before'
lab_reset
try 'balance start -m' btrfs balance start -m "$LAB_MNT"
sync
theirs=$(written)
diag "written: $(mebibytes "$ours") MiB by balance --preferred-metadata, $(mebibytes "$theirs") MiB by balance start -m"
in_range $((100 * ours / theirs)) 1 50 'percent of what balance start -m writes'
umount "$LAB_MNT"
done_testing
