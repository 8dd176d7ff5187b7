#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 2G --disk hdd:size=3G,seed=11 --disk hdd:size=3G,seed=12 --disk hdd:size=3G,seed=13 --disk ssd:size=2G,seed=4 --disk nvme:size=2G,seed=5 --disk ssd:size=2G,seed=6 --disk hdd:size=3G,seed=14
#
# What several readers get of several mirrors under roundrobin:
# streams on hard disks, against pid; a stream and random reads on flash of one
# kind and of two, against what the bare devices do.  Virtual time is exact, the
# bounds are those promised.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# fresh PROFILE DEVICE...: an empty file system on them, under pid
fresh() {
	lab_fresh && lab_mkfs "$@" && lab_mount "$2" noatime || bail_out "no file system on $*"
	policy pid
}

policy() {
	echo "$1" >"$(lab_sysfs)/read_policy" || bail_out "no policy $1"
}

# over VALUE OTHER: the ratio
over() {
	awk "BEGIN { print $1 / $2 }"
}

# streams COUNT: MiB/s of each of so many that read a file each; all are of a size
streams() {
	local n jobs=()

	for n in $(seq "$1"); do
		jobs+=(--name="s$n" --filename="$LAB_MNT/f$n" --rw=read --bs=128k)
	done
	lab_drop_caches
	lab_warm "$LAB_MNT"/f*
	lab_measure "${jobs[@]}" | awk '{ print $2 }'
}

slowest() {
	streams "$1" | sort -n | head -1
}

mean() {
	streams "$1" | awk '{ sum += $1 } END { print sum / NR }'
}

# random FILE DEPTH: IOPS of direct reads of 4 KiB
random() {
	lab_measure --name=r --filename="$1" --rw=randread --bs=4k --direct=1 --size=400M \
		--ioengine=libaio --iodepth="$2" --runtime=500ms --time_based | awk '{ print $3 }'
}

# stream DEVICE: MiB/s it is good for
stream() {
	lab_measure --name=s --filename="$1" --rw=read --bs=1M --direct=1 --size=400M \
		--ioengine=libaio --iodepth=4 | awk '{ print $2 }'
}

fresh raid1c3 /dev/labda /dev/labdb /dev/labdc
for n in $(seq 8); do
	# One after the other, or they would lie in pieces between each other.
	lab_fill "$LAB_MNT/f$n" 96 "$n" && sync
done
one=$(slowest 1) pid=$(lab_average slowest 8)
policy roundrobin
in_range "$(over "$(lab_average mean 3)" "$one")" 0.97 1.05 'three streams: as much as three disks give'
in_range "$(over "$(lab_average slowest 8)" "$pid")" 0.9 3 'eight streams: the slowest, over pid'
in_range "$(over "$(lab_average slowest 2)" "$one")" 1.05 1.5 'two streams share three disks: the slower, over one disk'

# two PROFILE LOW HIGH NAME: two streams on four disks, the slower over one alone under pid
two() {
	fresh "$1" /dev/labda /dev/labdb /dev/labdc /dev/labdg
	for n in 1 2; do
		lab_fill "$LAB_MNT/f$n" 96 "$n" && sync
	done
	one=$(slowest 1)
	policy roundrobin
	in_range "$(over "$(lab_average slowest 2)" "$one")" "$2" "$3" "$4"
}

# Each of the two pairs has a disk for each of the streams.
two raid10 0.65 1.3 'two streams on RAID10: the slower, over one alone under pid'
# Each of the streams has two mirrors, and the second to come is not left with one. A run gives 1.25 to 1.64.
two raid1c4 1.3 2 'two streams share four disks: the slower, over one disk'

# flash WHAT SLOWER FASTER TIMES: two devices, and how many times the faster they are under load
flash() {
	local both single many

	both=$(awk "BEGIN { print $(stream "$2") + $(stream "$3") }")
	single=$(random "$3" 1) many=$(random "$3" 32)
	fresh raid1 "$2" "$3"
	lab_fill "$LAB_MNT/f1" 400
	policy roundrobin
	in_range "$(over "$(slowest 1)" "$both")" 0.97 1.05 "$1: a stream, over both together"
	in_range "$(over "$(random "$LAB_MNT/f1" 1)" "$single")" 0.97 1.05 "$1: single reads, over the faster"
	in_range "$(over "$(random "$LAB_MNT/f1" 32)" "$many")" "$4" 2.1 "$1: 32 reads at once, over the faster"
}

flash 'SSD and NVMe' /dev/labdd /dev/labde 1.0
flash 'two SSD' /dev/labdd /dev/labdf 1.5
try 'nothing is left in flight' lab_idle
try unmount umount "$LAB_MNT"
done_testing
