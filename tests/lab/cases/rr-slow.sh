#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3
#
# A member that becomes ten times slower is left within 100 ms and used again
# within 5 s of its recovery, by a stream and by random reads.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# One after the other for as long as nobody says stop, always from the disks.
stream() {
	while [ ! -e /tmp/stop ]; do
		echo 1 > /proc/sys/vm/drop_caches
		cat "$LAB_MNT/file" > /dev/null
	done
}

random() {
	while [ ! -e /tmp/stop ]; do
		lab_fio --name=r --filename="$LAB_MNT/file" --rw=randread --bs=4k --direct=1 \
			--ioengine=libaio --iodepth=4 --runtime=1 --time_based --output=/dev/null
	done
}

# share NAME SECONDS: of the requests that disks get in that time, those for the first in percent
share() {
	local d all=0 first

	lab_reset
	sleep "$1"
	first=$(lab_stat /dev/labda reads)
	for d in $(lab_disks); do
		all=$((all + $(lab_stat "$d" reads)))
	done
	echo $((100 * first / all))
}

# watch NAME: with the reader of that name running
watch() {
	rm -f /tmp/stop
	$1 &
	sleep 2
	in_range "$(share 1)" 20 50 "$1: an equal member gets its share, in percent"
	lab_slow /dev/labda 1000
	sleep 0.1
	in_range "$(share 1)" 0 8 "$1: left 100 ms after it became slow"
	sleep 1
	lab_slow /dev/labda 100
	sleep 5
	in_range "$(share 2)" 20 50 "$1: used again 5 s after it recovered"
	touch /tmp/stop
	wait
}

try mkfs lab_mkfs raid1c3 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_fill "$LAB_MNT/file" 300
try 'set roundrobin' btrfs -q device policy set roundrobin "$LAB_MNT"
lab_drop_caches
watch stream
watch random
try 'nothing is left in flight' lab_idle
try unmount umount "$LAB_MNT"
done_testing
