#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --timeout 5400 --mem 1G --disk ssd:size=6G,seed=1 --disk ssd:size=6G,seed=2
# lab hdd: --disk hdd:size=12G,seed=3 --disk hdd:size=12G,seed=4
# lab track: --disk track:size=12G,seed=3 --disk track:size=12G,seed=4
# machines: hdd track
#
# The metadata of a backup server, 1.5 GiB with eight snapshots, moves by its stripes at the media rate of the disks, at
# least 25 times faster than by relocation with 224 MiB of memory. Neither more memory, 500 snapshots nor quotas make it
# slower.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"
. "$(dirname "$LAB_LIB")/stripes.sh"

# KiB a ms
rate() {
	echo $(($2 / 1024 / $1))
}

# moved_again WHAT: to the hard disks and to the SSDs; sets now, its rate
moved_again() {
	try "$1: it belongs on the disks" to_disks
	try "$1: back by stripes" move_by stripes
	try "$1: it belongs on the SSDs again" to_ssds
	try "$1: it moves by its stripes" move_by stripes
	now=$(rate "$(cat /tmp/ms)" "$(of_report copied-bytes)")
	diag "$1: $(mebibytes "$(of_report copied-bytes)") MiB in $(cat /tmp/ms) ms"
}

# no_slower WHAT: blocks that were written since lie closer together
no_slower() {
	moved_again "$1"
	in_range "$now" $((first * 9 / 10)) "$media" "$1: KiB a ms"
}

# more_snapshots FROM TO: each after 50 more files were written anew
more_snapshots() {
	local n

	for n in $(seq "$1" "$2"); do
		rewrite_files "$LAB_MNT/tree/mail" 50 200000 "$n" &&
		btrfs -q subvolume snapshot -r "$LAB_MNT/tree" "$LAB_MNT/day$n" || return
	done
}

start=$(lab_now)
try 'a disk is read' dd if=/dev/labdc of=/dev/null bs=1M count=2000 iflag=direct status=none
media=$((2000 * 1024 * 1000000 / ($(lab_now) - start)))
mount -o remount,size=90% /tmp && head -c 800M /dev/zero >/tmp/ballast
compare_methods 200000 8 25
in_range "$(rate "$stripes_ms" "$copied")" $((media * 9 / 10)) "$media" 'KiB a ms, by its stripes, at most what a disk reads'
# Relocation has left free space between the blocks, which passes below the heads, too.
moved_again '224 MiB of memory'
first=$now
rm /tmp/ballast
no_slower '1 GiB of memory'
try '50 snapshots' more_snapshots 9 50
no_slower '50 snapshots'
try '500 snapshots' more_snapshots 51 500
sums tree >/tmp/before
no_slower '500 snapshots'
try 'quotas' btrfs quota enable "$LAB_MNT"
try 'all is counted' btrfs quota rescan -w "$LAB_MNT"
no_slower 'quotas'
# btrfs check of btrfs-progs 6.2 does not live through the quota groups of 500 snapshots.
try 'no quotas' btrfs quota disable "$LAB_MNT"
nothing_lost /dev/labdc tree
done_testing
