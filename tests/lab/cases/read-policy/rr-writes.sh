#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk ssd:size=2G,seed=3
#
# A mirrored write is in flight on each member until that member is done: a slow one
# must not make the others look busy, whichever is the last of the chunk.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# beside SLOW: random reads a second while 32 writes of 1 MiB are in flight, first on equal
# members, which teaches how long reads wait then, and once that member is ten times slower
beside() {
	local writer reads

	lab_fio --name=w --filename="$LAB_MNT/write" --rw=write --bs=1M --direct=1 --size=64M \
		--ioengine=libaio --iodepth=32 --runtime=10 --time_based --output=/dev/null &
	writer=$!
	sleep 1
	reads 3 >/dev/null
	lab_slow "$1" 1000
	sleep 1
	reads=$(reads 4)
	wait "$writer" && echo "$reads"
	lab_slow "$1" 100
}

# reads SECONDS: how many a second, four at once
reads() {
	lab_measure --name=r --filename="$LAB_MNT/read" --rw=randread --bs=4k --direct=1 --size=128M \
		--ioengine=libaio --iodepth=4 --runtime="$1" --time_based | awk '{ print $3 }'
}

# array MEMBER...: a file to write over, one to read
array() {
	lab_fresh && lab_mkfs raid1 "$@" && lab_mount "$1" noatime || bail_out "no file system on $*"
	touch "$LAB_MNT/write"
	chattr +C "$LAB_MNT/write"
	lab_fill "$LAB_MNT/write" 64
	lab_fill "$LAB_MNT/read" 128
	lab_drop_caches
	lab_warm "$LAB_MNT/read"
	try "set roundrobin on $*" btrfs -q device policy set roundrobin "$LAB_MNT"
}

for slow in /dev/labda /dev/labdb; do
	array /dev/labda /dev/labdb
	in_range "$(beside "$slow")" 115 400 "two hard disks, ${slow##*/} slow: reads a second, as of one that is idle"
done
array /dev/labda /dev/labdc
in_range "$(beside /dev/labda)" 4000 40000 'an SSD and a slow hard disk: reads a second, as of the SSD'
array /dev/labda /dev/labdc
in_range "$(beside /dev/labdc)" 115 400 'a hard disk and a slow SSD: reads a second, as of the hard disk'
try 'nothing is left in flight' lab_idle
try unmount umount "$LAB_MNT"
done_testing
