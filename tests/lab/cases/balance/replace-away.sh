#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=512M,seed=1 --disk hdd:size=512M,seed=2 --disk ssd:size=512M,seed=3
#
# A replace is suspended, and while its target is away files are written where it has been already. With the target
# the replace goes on, and all of them are on it.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

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
try 'read-only while it runs' mount -o remount,ro "$LAB_MNT"
wait $replace
in_range "$(btrfs replace status -1 "$LAB_MNT" | sed -n 's/.* suspended on .* at \([0-9]*\)\..*/\1/p')" 20 90 'percent of it are done'
try unmount umount "$LAB_MNT"

btrfs device scan --forget
btrfs device scan /dev/labda /dev/labdb >/dev/null
try 'mount without the target' lab_mount /dev/labda degraded
try 'files are written' lab_fill "$LAB_MNT/new" 30
sync "$LAB_MNT/new"
echo 1 >/sys/module/labdisk/parameters/dark
umount "$LAB_MNT"
echo 0 >/sys/module/labdisk/parameters/dark

btrfs device scan --forget
btrfs device scan >/dev/null
try 'mount with the target' lab_mount /dev/labda
for ((n = 0; n < 200; n++)); do
	btrfs replace status -1 "$LAB_MNT" | grep -q finished && break
	sleep 0.1
done
is "$(btrfs replace status -1 "$LAB_MNT" | grep -c ' finished on .* 0 write errs, 0 uncorr. read errs')" 1 'it goes on, and is done'
is "$(stat -c %s "$LAB_MNT/new")" $((30 << 20)) 'what was synced without it is there'
is "$(btrfs scrub start -B "$LAB_MNT" 2>/dev/null | grep '^Error summary')" 'Error summary:    no errors found' 'and all of it on the target'
try unmount umount "$LAB_MNT"
done_testing
