#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 2G --disk hdd:size=6G,seed=1 --disk hdd:size=6G,seed=2
# lab: --disk ssd:size=2G,seed=3 --disk ssd:size=2G,seed=4
#
# The main job on two hard disks and two SSDs, everything RAID1: metadata on the
# hard disks, SSDs tagged, misplaced chunks moved.  Afterwards main-job.host
# looks at the unmounted disks from outside.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

usage() {
	btrfs --format json device policy usage "$LAB_MNT"
}

# Bytes of KIND chunks on devices of devid IDS: placed KIND ID...
placed() {
	local kind=$1

	shift
	usage | jq --arg kind "$kind-bytes" --argjson ids "[$(IFS=,; echo "$*")]" \
		'[.[keys[1]].devices[] | select(.devid | IN($ids[])) | .[$kind]] | add'
}

sums() {
	lab_drop_caches
	(cd "$LAB_MNT" && find . -type f ! -path './.*' -print0 | sort -z | xargs -0 sha256sum)
}

# Metadata of many small files, and data, where the first two devices are all there is.
history() {
	local day

	btrfs -q subvolume create "$LAB_MNT/tree" || return
	for day in 1 2 3; do
		cp -a "$(dirname "$LAB_LIB")/.." "$LAB_MNT/tree/lab$day" &&
		for i in $(seq 400); do
			echo "$day $i" > "$LAB_MNT/tree/small.$day.$i"
		done &&
		btrfs -q subvolume snapshot -r "$LAB_MNT/tree" "$LAB_MNT/day$day" || return
	done
	rm -rf "$LAB_MNT/tree/lab1"
	btrfs -q subvolume delete "$LAB_MNT/day2" >/dev/null
	lab_fill "$LAB_MNT/big" 300
	sync
}

try 'mkfs on the hard disks' lab_mkfs raid1 /dev/labda /dev/labdb || bail_out mkfs
try 'mount' lab_mount /dev/labda || bail_out mount
try 'a history of files and snapshots' history
try 'the SSDs come later' btrfs device add -f /dev/labdc /dev/labdd "$LAB_MNT"
sums > /tmp/before

is "$(btrfs --format json device policy show "$LAB_MNT" | jq '.[keys[1]][0].enforced')" true \
	'this kernel obeys roles, and show says so'
btrfs device policy usage -c "$LAB_MNT" >/dev/null
is $? 0 'nothing is misplaced before there are roles'

out=$(btrfs device policy tag metadata-only 3 4 "$LAB_MNT") && ok 'tag two devices' || not_ok 'tag'
is "$(grep -c 'data-preferred -> metadata-only' <<<"$out")" 2 'one line a change'
is "$(btrfs device policy tag metadata-only 3 4 "$LAB_MNT" | grep -c unchanged)" 2 'tagged again, nothing changes'
try 'tag the disks by what they are' btrfs -q device policy tag data-only rotational "$LAB_MNT"
for devid in 1 2; do
	is "$(btrfs device policy get role $devid "$LAB_MNT")" data-only "role of devid $devid"
done
btrfs device policy usage -c "$LAB_MNT" >/dev/null
is $? 64 'now metadata is misplaced: usage -c adds 64'
[ "$(placed metadata 1 2)" -gt 0 ] && ok 'it is on the hard disks' || not_ok 'metadata on hard disks'

before=$(placed metadata 1 2)
try 'a dry run says what would move' btrfs --dry-run balance --preferred-metadata "$LAB_MNT"
is "$(placed metadata 1 2)" "$before" 'and moves nothing'
try 'balance --preferred-metadata' btrfs balance --preferred-metadata "$LAB_MNT"
btrfs device policy usage -c "$LAB_MNT" >/dev/null
is $? 0 'usage -c is content'
is "$(placed metadata 1 2) $(placed system 1 2)" '0 0' 'no metadata or system chunk is on a hard disk'
is "$(placed data 3 4)" 0 'no data chunk is on an SSD'
try 'a second balance has nothing to do' btrfs balance --preferred-metadata "$LAB_MNT"
is "$(cat /sys/fs/btrfs/$LAB_UUID/allocation/metadata/misplaced_bytes)" 0 'the kernel counts none either'

for i in $(seq 200); do
	echo new > "$LAB_MNT/new.$i"
done
lab_fill "$LAB_MNT/.more" 1200 2
lab_drop_caches
is "$(placed metadata 1 2) $(placed data 3 4)" '0 0' 'new chunks go where they should'
rm "$LAB_MNT"/new.* "$LAB_MNT/.more"
sums > /tmp/after
is "$(diff /tmp/before /tmp/after)" '' 'all contents are unchanged'

try 'unmount' umount "$LAB_MNT"
try 'mount again' lab_mount /dev/labdb
is "$(btrfs device policy get role 3 "$LAB_MNT")" metadata-only 'roles survive a mount'
try 'scrub finds nothing' lab_scrub
try 'unmount' umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda
done_testing
