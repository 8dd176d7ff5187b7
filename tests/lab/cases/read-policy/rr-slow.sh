#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3 --disk ssd:size=2G,seed=4 --disk ssd:size=2G,seed=5 --disk nvme:size=2G,seed=6 --disk nvme:size=2G,seed=7
#
# A member that becomes ten times slower is left within 100 ms and used again
# within 5 s of its recovery, by a stream and by random reads, on hard disks and
# on flash, of which the policy times only some reads.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# One after the other for as long as nobody says stop, always from the disks.
stream() {
	while [ ! -e /tmp/stop ]; do
		echo 1 > /proc/sys/vm/drop_caches
		cat "$LAB_MNT/file" > /dev/null
	done
}

# random DEPTH: so many reads of 4 KiB at once
random() {
	while [ ! -e /tmp/stop ]; do
		lab_fio --name=r --filename="$LAB_MNT/file" --rw=randread --bs=4k --direct=1 \
			--ioengine=libaio --iodepth="$1" --runtime=1 --time_based --output=/dev/null
	done
}

# share SECONDS: of the bytes that members read in that time, those of the first in percent. Not of requests: on Linux
# 7.3 some of the 16 KiB blocks of checksums are read from the slow member, and none without checksums.
share() {
	local d all=0 first

	lab_reset
	sleep "$1"
	first=$(lab_stat "${members[0]}" read_bytes)
	for d in "${members[@]}"; do
		all=$((all + $(lab_stat "$d" read_bytes)))
	done
	echo $((100 * first / all))
}

# watch LOW HIGH LEFT READER...: with that reader running, who gives an equal member so many
# percent and a slow one at most LEFT
watch() {
	local low=$1 high=$2 left=$3 name

	shift 3
	name="$what, $*"
	rm -f /tmp/stop
	"$@" &
	sleep 2
	in_range "$(share 1)" "$low" "$high" "$name: an equal member gets its share, in percent"
	lab_slow "${members[0]}" 1000
	sleep 0.1
	in_range "$(share 1)" 0 "$left" "$name: left 100 ms after it became slow"
	sleep 1
	lab_slow "${members[0]}" 100
	sleep 5
	in_range "$(share 2)" "$low" "$high" "$name: used again 5 s after it recovered"
	touch /tmp/stop
	wait
}

# array WHAT PROFILE DEVICE...: a file on these members
array() {
	what=$1 members=("${@:3}")
	lab_fresh && lab_mkfs "${@:2}" && lab_mount "$3" || bail_out "no file system on $what"
	lab_fill "$LAB_MNT/file" 300
	try "$what: set roundrobin" btrfs -q device policy set roundrobin "$LAB_MNT"
	lab_drop_caches
}

# Ten times slower than one other, a member could carry a share of 9, but a stream waits for it.
array 'three hard disks' raid1c3 /dev/labd{a,b,c}
watch 20 50 9 stream
watch 20 50 9 random 4
array 'two SSD' raid1 /dev/labdd /dev/labde
# What was in flight when it became slow is read there, too.
watch 35 65 3 stream
watch 35 65 3 random 1
watch 35 65 3 random 32
array 'two NVMe' raid1 /dev/labdf /dev/labdg
watch 35 65 3 random 1
try 'nothing is left in flight' lab_idle
try unmount umount "$LAB_MNT"
done_testing
