#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3 --disk hdd:size=2G,seed=4,rate=240M --disk hdd:size=2G,seed=5,rate=180M
#
# Direct reads, which no readahead spreads over the members: large ones here and
# there, and a stream that begins on a member busy with somebody else's work, or
# on the slower one.
# Against what the bare disks do.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# mirrored PROFILE DEVICE...: a file system on them, with a file
mirrored() {
	lab_fresh && lab_mkfs "$@" && lab_mount "$2" noatime || bail_out "no file system on $*"
	lab_fill "$LAB_MNT/file" 640
	sync
	lab_drop_caches
	lab_warm "$LAB_MNT/file"
	policy roundrobin
}

policy() {
	echo "$1" >"$(lab_sysfs)/read_policy" || bail_out "no policy $1"
}

# random FILE DEPTH: MiB/s of reads of 256 KiB here and there
random() {
	lab_measure --name=r --filename="$1" --rw=randread --bs=256k --direct=1 --size=640M \
		--ioengine=libaio --iodepth="$2" --runtime=5 --time_based | awk '{ print $2 }'
}

# stream FILE: MiB/s of one read of 1 MiB after the other
stream() {
	lab_measure --name=s --filename="$1" --rw=read --bs=1M --direct=1 --size=640M | awk '{ print $2 }'
}

# beginning FILE: the same on disks that nobody knows yet, as setting the policy anew
# forgets them; the middle of three, as it is chance where the platters stand
beginning() {
	for _ in 1 2 3; do
		policy pid
		policy roundrobin
		stream "$1"
	done | sort -n | sed -n 2p
}

over() {
	awk "BEGIN { print $1 / $2 }"
}

single=$(random /dev/labda 1)
mirrored raid1c3 /dev/labda /dev/labdb /dev/labdc
in_range "$(over "$(random "$LAB_MNT/file" 3)" "$single")" 2 4 'three random reads at once on three disks, over one on one disk'
in_range "$(over "$(random "$LAB_MNT/file" 8)" "$single")" 2.8 5 'eight, over one on one disk'

free=$(stream /dev/labdb)
# Where an extent ends in the middle of a read the stream may try the busy one once more.
for busy in /dev/labda /dev/labdb; do
	mirrored raid1 /dev/labda /dev/labdb
	lab_load "$busy" '30 20'
	in_range "$(over "$(beginning "$LAB_MNT/file")" "$free")" 0.8 2 "a stream with ${busy##*/} busy, over the other one alone"
	lab_load "$busy" 0
done
fast=$(stream /dev/labdd)
for order in 'labdd labde' 'labde labdd'; do
	read -r first second <<<"$order"
	mirrored raid1 "/dev/$first" "/dev/$second"
	in_range "$(over "$(beginning "$LAB_MNT/file")" "$fast")" 0.9 1.05 "a stream on disks of 240 and 180 MiB/s, $first first, over the faster alone"
done
try 'nothing is left in flight' lab_idle
try unmount umount "$LAB_MNT"
done_testing
