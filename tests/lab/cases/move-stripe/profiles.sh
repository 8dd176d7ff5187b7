#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=6G,seed=1 --disk ssd:size=6G,seed=2 --disk ssd:size=6G,seed=3 --disk ssd:size=6G,seed=4 --disk ssd:size=6G,seed=5
# machines: single/single raid1/raid1 raid10/raid10 raid5/raid5
# machines at night: dup/dup raid0/raid0 raid1c3/raid1c3 raid1c4/raid1c4 raid6/raid6
#
# A stripe of each chunk of each profile moves to a device that had none of it: contents, checksums and trees are what they
# were, with the move committed and after a remount.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"
mapfile -t disks < <(lab_disks)

# One disk is left over for the target.
disks_for() {
	case $1 in
	single*|dup*) echo 1 ;;
	raid1c4*) echo 4 ;;
	raid5*|raid1c3*) echo 3 ;;
	raid10*|raid6*) echo 4 ;;
	*) echo 2 ;;
	esac
}

# Every stripe of every chunk, to a device without any; chunks that were made meanwhile may be on all.
move_all() {
	local chunk stripe target moved=0

	while read -r chunk stripe _; do
		target=$(vacant /dev/labda "$chunk" 5 | head -n 1)
		[ -n "$target" ] || continue
		"$move" start "$chunk:$stripe:$target" || return
		[ "$(at /dev/labda "$chunk" "$stripe")" = "$target" ] || { echo "$chunk $stripe is not on $target"; return 1; }
		moved=$((moved + 1))
	done < <(stripes /dev/labda)
	[ $moved -ge "$1" ]
}

profile=${1:?}
try mkfs lab_mkfs "$profile" "${disks[@]:0:$(disks_for "$profile")}" || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_fill "$LAB_MNT/f" 60
lab_small_files "$LAB_MNT/small" 3000 1500 >/dev/null
rm "$LAB_MNT"/small/*7
sync
sum=$(lab_sum "$LAB_MNT/f" "$LAB_MNT"/small/*)
[ "$(disks_for "$profile")" = 5 ] || try 'more devices' btrfs device add -f "${disks[@]:$(disks_for "$profile")}" "$LAB_MNT"
before=$(stripes /dev/labda | wc -l)
in_range "$before" 3 100 'stripes of data, metadata and system chunks'
try 'each moves' move_all "$before"
is "$(stripes /dev/labda | awk '{ print $5 }' | sort -u | xargs)" 'DATA METADATA SYSTEM' 'of all kinds'
lab_drop_caches
is "$(lab_sum "$LAB_MNT/f" "$LAB_MNT"/small/*)" "$sum" 'contents'
try scrub lab_scrub
lab_small_files "$LAB_MNT/more" 2000 1500 >/dev/null
lab_fill "$LAB_MNT/g" 30 2
try 'scrub after writes' lab_scrub
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda
try 'mount again' lab_mount /dev/labda || bail_out 'mount again'
is "$(lab_sum "$LAB_MNT/f" "$LAB_MNT"/small/*)" "$sum" 'contents after it'
try 'some move again' move_all 3
try 'unmount again' umount "$LAB_MNT"
try 'btrfs check again' btrfs check --check-data-csum /dev/labda
done_testing
