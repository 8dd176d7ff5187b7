#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=512M,seed=1 --disk hdd:size=512M,seed=2 --disk ssd:size=512M,seed=3 --allow WARNING:.*dev-replace.c
#
# The power is cut after each write while a replace begins beside fsync. The file system can be mounted: the target is no
# member before the replace is on disk. (The kernel warns of commits that fail in a replace.)
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# sync_files: until the power is cut
sync_files() {
	while dd if=/dev/zero of="$LAB_MNT/file$((i++))" bs=64K count=1 conv=fsync 2>/dev/null; do :; done
}

labdisk=/sys/module/labdisk/parameters
wrong='' begun=0
for ((n = 1; n <= 90; n += 3)); do
	lab_fresh && lab_mkfs raid1/raid1 /dev/labda /dev/labdb && lab_mount /dev/labda || bail_out "cut $n: no file system"
	sync_files &
	syncer=$!
	sleep 0.1
	echo "$n" >$labdisk/writes_left
	btrfs replace start -B -f 2 /dev/labdc "$LAB_MNT" >/tmp/replace 2>&1
	wait $syncer
	umount "$LAB_MNT"
	btrfs device scan --forget
	echo 0 >$labdisk/dark
	btrfs device scan >/dev/null 2>&1
	if lab_mount /dev/labda ro 2>/tmp/mount; then
		btrfs replace status -1 "$LAB_MNT" | grep -q 'Never started' || begun=$((begun + 1))
	else
		wrong+="$n "
	fi
done
is "$wrong" '' 'cuts after which there was no mount'
in_range $begun 1 29 "replaces that had begun, of 30"
done_testing
