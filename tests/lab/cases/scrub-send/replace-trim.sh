#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=2G,seed=1 --disk ssd:size=1G,seed=2 --disk ssd:size=2G,seed=3
#
# What is free is trimmed while a device is being replaced. The target has no chunks of its own yet, but
# what has been copied to it must stay.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# copied MIB: waits until the target has got that much
copied() {
	for _ in {1..300}; do
		[ "$(awk '{ print $7 }' /sys/block/labdc/stat)" -lt $(($1 * 2048)) ] || return 0
		sleep 0.1
	done
	return 1
}

# Is the replace under way?
running() {
	btrfs replace status -1 "$LAB_MNT" | tee /tmp/status
	grep -q '% done' /tmp/status
}

try 'a file system' lab_mkfs single/raid1 /dev/labda /dev/labdb || bail_out 'no file system'
try 'mount' lab_mount /dev/labda || bail_out 'no mount'
lab_fill "$LAB_MNT/file" 200
sync -f "$LAB_MNT"
sum=$(lab_sum "$LAB_MNT/file")
is "$(lab_devids /dev/labda DATA)" 1 'data is on the first disk'
echo 10M >"$(lab_sysfs)/devinfo/1/scrub_speed_max"
try 'replace it' btrfs replace start -f 1 /dev/labdc "$LAB_MNT" || bail_out 'no replace'
try 'half of it is copied' copied 100
try 'the replace is under way' running
try 'trim' fstrim "$LAB_MNT"
try 'the replace is still under way' running
is "$(btrfs replace status "$LAB_MNT" | grep -c 'finished on.* 0 write errs, 0 uncorr. read errs')" 1 'it ends well'
try 'unmount' umount "$LAB_MNT"
btrfs device scan --forget
btrfs device scan /dev/labdb /dev/labdc >/dev/null
try 'mount again' lab_mount /dev/labdb || bail_out 'no mount'
lab_drop_caches
is "$(lab_sum "$LAB_MNT/file")" "$sum" 'the contents are there'
try 'scrub finds no error' lab_scrub
try 'unmount again' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labdb
done_testing
