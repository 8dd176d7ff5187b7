#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=64M,volatile=1 --disk ssd:size=1G,volatile=1 --disk hdd:size=256M --disk hdd:size=256M
#
# Power cuts and pulled plugs: what was flushed is there afterwards, what was
# not may not be, and nothing is served in between.

[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../cases/host.sh"
. "$LAB_LIB"
disk=/dev/labda

# put BYTE BLOCK [DD_OPTIONS]: 4 KiB of one byte
put() {
	head -c 4096 /dev/zero | tr '\0' "$1" |
		dd of=$disk bs=4k seek="$2" oflag=direct iflag=fullblock ${3:-} 2>/dev/null
}

# What stands at the start of a block; zeros are shown as 0.
get() {
	dd if=$disk bs=4k skip="$1" count=1 iflag=direct 2>/dev/null |
		head -c 1 | tr '\0' 0
}

cut_and_back() {
	lab_power $disk "$1"
	lab_power $disk on
}

put a 0
is "$(get 0)" a "a write is read back from the volatile cache"
cut_and_back cut
is "$(get 0)" 0 "and is lost in a power cut"
put b 0 conv=fsync
cut_and_back cut
is "$(get 0)" b "a flushed write is not"
put c 0
cut_and_back "cut keep"
is "$(get 0)" c "a cut that happened to come late keeps all"

# Half a block over a flushed one: the other half is the old one's.
put d 1 conv=fsync
printf '%512s' e | dd of=$disk bs=512 seek=12 oflag=direct 2>/dev/null
is "$(dd if=$disk bs=512 skip=12 count=1 iflag=direct 2>/dev/null | tail -c 1)" \
	e "a part of a block over a whole one"
is "$(dd if=$disk bs=512 skip=13 count=1 iflag=direct 2>/dev/null | head -c 1)" \
	d "leaves the rest of the block"

fill_many() {
	local i

	for i in $(seq 100 199); do
		put "$1" "$i"
	done
}

count_many() {
	dd if=$disk bs=4k skip=100 count=100 iflag=direct 2>/dev/null |
		tr -cd "$1" | wc -c | awk '{ print $1 / 4096 }'
}

fill_many f
sync $disk
fill_many g
cut_and_back "cut random 7"
in_range "$(count_many g)" 30 70 "a random cut keeps some of the blocks"
is "$(count_many fg)" 100 "and the others as they were"

lab_power $disk cut
is "$(cat /sys/block/labda/lab/power)" off "the power is off"
refuse "then it refuses writes" put h 0
refuse "and reads" dd if=$disk of=/dev/null bs=4k count=1 iflag=direct
in_range "$(lab_stat $disk errors)" 1 1000 "and counts them"
lab_power $disk on

# All disks, at the third write
parameters=/sys/module/labdisk/parameters
echo 3 >$parameters/writes_left
put i 5
try "two writes are done" dd if=/dev/zero of=/dev/labdb bs=4k count=1 oflag=direct status=none
is "$(cat $parameters/writes_left) $(cat $parameters/dark)" "1 N" "one is left until all is dark"
refuse "the third is not done" put j 5
refuse "nor is another disk read" dd if=/dev/labdb of=/dev/null bs=4k count=1 iflag=direct
echo 0 >$parameters/dark
is "$(get 5)" i "what was written before is there"

### A file system through a power cut

try "mkfs" lab_mkfs single/single /dev/labdb
try "mount" lab_mount /dev/labdb
echo kept >"$LAB_MNT/kept"
sync -f "$LAB_MNT"
echo lost >"$LAB_MNT/lost"
lab_power /dev/labdb cut
refuse "nothing can be synced without power" sync -f "$LAB_MNT"
umount "$LAB_MNT"
lab_power /dev/labdb on
try "it mounts after the cut" lab_mount /dev/labdb
is "$(cat "$LAB_MNT/kept")" kept "what was synced is there"
refuse "what was not is not" cat "$LAB_MNT/lost"
umount "$LAB_MNT"
try "and it is sound" btrfs check /dev/labdb

### Plugs

lab_wipe /dev/labdb		# the lab's file systems have one UUID
try "mkfs raid1" lab_mkfs raid1 /dev/labdc /dev/labdd
try "mount raid1" lab_mount /dev/labdc || bail_out "no file system to test with"
lab_fill "$LAB_MNT/f" 16
sum=$(lab_sum "$LAB_MNT/f")
lab_drop_caches
try "a disk is pulled out under a mounted file system" lab_pull /dev/labdd
refuse "it is gone" test -e /dev/labdd
is "$(lab_sum "$LAB_MNT/f")" "$sum" "the other mirror serves"
umount "$LAB_MNT"
try "a new one is plugged in" lab_add ssd:size=256M
is "$(cat /sys/block/labdd/queue/rotational)" 0 "and is what was asked for"
refuse "no disk of an unknown kind" lab_add floppy:size=1M
refuse "no disk with an unknown parameter" lab_add hdd:heads=4
refuse "no disk with a value out of bounds" lab_add hdd:rpm=0
done_testing
