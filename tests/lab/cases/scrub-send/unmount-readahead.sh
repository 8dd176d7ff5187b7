#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=4G,seed=1
#
# A send is killed and the file system unmounted while readahead of tree blocks is in
# flight: nothing is written, so no commit waits for it.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

try mkfs lab_mkfs single/single /dev/labda || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
is "$(lab_small_files "$LAB_MNT/d" 40000 1500 3000 && sync)" all 'small files'
try snapshot btrfs -q subvolume snapshot -r "$LAB_MNT" "$LAB_MNT/snapshot"
umount "$LAB_MNT"
lab_slow /dev/labda 1000

left=0
for ms in $(seq 20 20 400); do
	echo 3 >/proc/sys/vm/drop_caches
	lab_mount /dev/labda ro || bail_out mount
	btrfs send -q "$LAB_MNT/snapshot" >/dev/null 2>&1 &
	sleep "0.$(printf %03d "$ms")"
	kill -KILL $!
	wait $! 2>/dev/null
	umount "$LAB_MNT" || not_ok "unmount after $ms ms"
	read -r flying _ </sys/block/labda/inflight
	left=$((left + flying))
done
is "$left" 0 'no read in flight after unmount'
lab_slow /dev/labda 100
try 'the disk answers' lab_mount /dev/labda
try unmount umount "$LAB_MNT"
done_testing
