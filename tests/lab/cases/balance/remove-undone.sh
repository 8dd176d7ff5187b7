#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk hdd:size=1G,seed=1 --disk hdd:size=1G,seed=2 --disk hdd:size=3G,seed=3
#
# A device that cannot be removed or shrunk gets its space back: new files must find it.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

try mkfs lab_mkfs single/single /dev/labda /dev/labdb || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'two devices are full' lab_take_all "$LAB_MNT/full"
try 'a third one' btrfs -q device add -f -K /dev/labdc "$LAB_MNT"
try 'a file there' fallocate -l 100M "$LAB_MNT/file"
for step in 'device remove 3' 'filesystem resize 3:300M'; do
	refuse "$step fails for lack of space" btrfs $step "$LAB_MNT"
	try "after it, there is space for a file" fallocate -l 1500M "$LAB_MNT/new"
	try 'delete it' rm -f "$LAB_MNT/new"
	sync
done
try 'it is writable' lab_writable
try 'unmount' umount "$LAB_MNT"
done_testing
