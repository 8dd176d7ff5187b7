#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=512M,seed=1 --disk hdd:size=512M,seed=2 --disk ssd:size=512M,seed=3 --allow WARNING:.*dev-replace.c
#
# While the target of a replace is away, files are written where the replace has been already: by a mount, or by a
# read-only one that replays a log. With the target the replace goes on, and all of them are on it.
# (The kernel warns of commits that fail.)
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

dark=/sys/module/labdisk/parameters/dark

# begin: a replace that runs and has done part of its work
begin() {
	btrfs device scan --forget
	wipefs -qa /dev/labd[a-c]
	try mkfs lab_mkfs raid1/raid1 /dev/labda /dev/labdb || bail_out mkfs
	try mount lab_mount /dev/labda || bail_out mount
	lab_fill "$LAB_MNT/first" 30
	lab_fill "$LAB_MNT/file" 150
	sync
	rm "$LAB_MNT/first"
	sync
	btrfs replace start -B -f 2 /dev/labdc "$LAB_MNT" >/tmp/replace 2>&1 &
	replace=$!
	sleep 0.5
}

# without_target OPTIONS: mount the array without the target
without_target() {
	btrfs device scan --forget
	btrfs device scan /dev/labda /dev/labdb >/dev/null
	try "mount without the target ($1)" lab_mount /dev/labda "$1"
}

# cut: the power, as far as the array is concerned; a replace that runs keeps it mounted
cut() {
	echo 1 >$dark
	[ -z "$(jobs -r)" ] || btrfs replace cancel "$LAB_MNT"
	wait $replace
	umount "$LAB_MNT"
	echo 0 >$dark
}

# finish: with the target
finish() {
	btrfs device scan --forget
	btrfs device scan >/dev/null
	try 'mount with the target' lab_mount /dev/labda
	for ((n = 0; n < 200; n++)); do
		btrfs replace status -1 "$LAB_MNT" | grep -q finished && break
		sleep 0.1
	done
	is "$(btrfs replace status -1 "$LAB_MNT" | grep -c ' finished on .* 0 write errs, 0 uncorr. read errs')" 1 'it goes on, and is done'
	is "$(btrfs scrub start -B "$LAB_MNT" 2>/dev/null | grep '^Error summary')" 'Error summary:    no errors found' 'and all of it on the target'
}

begin
try 'read-only while it runs' mount -o remount,ro "$LAB_MNT"
wait $replace
in_range "$(btrfs replace status -1 "$LAB_MNT" | sed -n 's/.* suspended on .* at \([0-9]*\)\..*/\1/p')" 20 90 'percent of it are done'
try unmount umount "$LAB_MNT"
without_target degraded
try 'files are written' lab_fill "$LAB_MNT/new" 30
sync "$LAB_MNT/new"
cut
finish
is "$(stat -c %s "$LAB_MNT/new")" $((30 << 20)) 'what was synced without it is there'
try unmount umount "$LAB_MNT"

begin
for ((n = 0; n < 5; n++)); do
	echo "$n" >"$LAB_MNT/logged.$n" && sync "$LAB_MNT/logged.$n" || break
done
is $n 5 'files are synced while it runs'
cut
without_target ro,degraded
is "$(cat "$LAB_MNT"/logged.* | wc -l)" 5 'the log is replayed'
try unmount umount "$LAB_MNT"
finish
is "$(cat "$LAB_MNT"/logged.* | wc -l)" 5 'and what it held is there'
done_testing
