#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=512M,seed=1 --disk hdd:size=512M,seed=2 --disk ssd:size=512M,seed=3 --allow WARNING:.*dev-replace.c
#
# A replace is cancelled, finishes, or is suspended. The power is cut after each write, or the target is away: the file
# system can be mounted, and all is there. (The kernel warns of commits that fail.)
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

labdisk=/sys/module/labdisk/parameters

array() {
	lab_fresh && lab_mkfs raid1/raid1 /dev/labda /dev/labdb && lab_mount /dev/labda && lab_fill "$LAB_MNT/file" "$1" && sync ||
		bail_out 'no file system'
	sum=$(md5sum <"$LAB_MNT/file")
	: >/tmp/promised
}

# Power is back: all devices are seen, and the file is right in two mounts, and all that was synced is there.
right() {
	local n

	btrfs device scan --forget
	echo 0 >$labdisk/writes_left	# some are left where there were fewer this time
	echo 0 >$labdisk/dark
	btrfs device scan >/dev/null 2>&1
	for n in 1 2; do
		lab_mount /dev/labda 2>/tmp/mount || return
		[ "$(md5sum <"$LAB_MNT/file")" = "$sum" ] && xargs -r cat </tmp/promised >/dev/null && umount "$LAB_MNT" || return
	done
}

# Tasks that sync new files until the file system takes no more, or the replace is over.
syncing() {
	local n i

	for n in 1 2 3; do
		for ((i = 0; ; i++)); do
			[ ! -e /tmp/over ] && (echo "$n" >"$LAB_MNT/$n.$i") 2>/dev/null && sync "$LAB_MNT/$n.$i" 2>/dev/null || break
			echo "$LAB_MNT/$n.$i" >>/tmp/promised
		done &
	done
}

begin() {
	btrfs replace start -B -f 2 /dev/labdc "$LAB_MNT" >/tmp/replace 2>&1 &
	replace=$!
	sleep 0.2
}

cancel() {
	begin
	echo "$1" >$labdisk/writes_left
	btrfs replace cancel "$LAB_MNT" >/tmp/cancel 2>&1
	wait $replace
}

finish() {
	echo "$1" >$labdisk/writes_left
	btrfs replace start -B -f 2 /dev/labdc "$LAB_MNT" >/tmp/replace 2>&1
}

finish_syncing() {
	rm -f /tmp/over
	syncing
	finish "$1"
	touch /tmp/over
	wait
}

# writes WORK SIZE: all that it writes, until the file system is unmounted
writes() {
	array "$2"
	"$1" 100000
	umount "$LAB_MNT"
	echo $((100000 - $(cat $labdisk/writes_left)))
	echo 0 >$labdisk/writes_left
}

# cuts WORK SIZE COUNT STEP: before each STEPth of the last COUNT writes
cuts() {
	local last n wrong=''

	last=$(writes "$1" "$2")
	ok "$1: $last writes"
	for ((n = last > $3 ? last - $3 : 1; n < last; n += $4)); do
		array "$2"
		"$1" "$n"
		umount "$LAB_MNT"
		right || { wrong+="$n "; umount -q "$LAB_MNT"; }
	done
	is "$wrong" '' "$1: cuts after which there was no mount, or wrong data"
}

cuts cancel 60 14 1
cuts finish 10 8 1
cuts finish_syncing 10 40 3

# The power is cut after a replace was cancelled, before a commit.
array 60
begin
btrfs replace cancel "$LAB_MNT"
wait $replace
echo 1 >$labdisk/dark
umount "$LAB_MNT"
try 'mount after it was cancelled' right

# Suspended, as at each shutdown, and resumed: all is copied.
array 100
begin
try 'read-only while it runs' mount -o remount,ro "$LAB_MNT"
wait $replace
is "$(btrfs replace status -1 "$LAB_MNT" | grep -c suspended)" 1 'it is suspended'
try 'writeable again' mount -o remount,rw "$LAB_MNT"
for ((n = 0; n < 100; n++)); do
	btrfs replace status -1 "$LAB_MNT" | grep -q finished && break
	sleep 0.1
done
is "$(btrfs scrub start -B "$LAB_MNT" 2>/dev/null | grep '^Error summary')" 'Error summary:    no errors found' 'all is copied when it has been resumed'

# Its target is away while it is cancelled.
array 100
begin
mount -o remount,ro "$LAB_MNT"
wait $replace
try 'unmount' umount "$LAB_MNT"
btrfs device scan --forget
btrfs device scan /dev/labda /dev/labdb >/dev/null
try 'mount without the target' lab_mount /dev/labda degraded
try 'cancel' btrfs replace cancel "$LAB_MNT"
try 'unmount' umount "$LAB_MNT"
try 'mount with the target' right
lab_mount /dev/labda
is "$(btrfs device usage "$LAB_MNT" | grep -c '^/dev/')" 2 'it is left out'
umount "$LAB_MNT"
done_testing
