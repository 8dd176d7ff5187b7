#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3
#
# Readers of many small files, as a backup does it: each reads what lies close
# together, and must stay where its files are also when there are more of them
# than disks.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# fill DIRECTORY: 250 files of 40 to 900 KiB, 116 MiB together
fill() {
	local n

	mkdir "$1"
	for n in $(seq 250); do
		head -c $(((40 + n * 7919 % 860) * 1024)) /dev/zero >"$1/$n"
	done
	sync
}

# readers COUNT: seconds they need together for all directories
readers() {
	local begin n pids=()

	lab_drop_caches
	# Other process ids each time: a new task's disk depends on them.
	(:)
	begin=$EPOCHREALTIME
	for n in $(seq "$1"); do
		for ((; n <= 6; n += $1)); do
			cat "$LAB_MNT/$n"/*
		done >/dev/null &
		pids+=($!)
	done
	wait "${pids[@]}"
	echo "$EPOCHREALTIME $begin" | awk '{ print $1 - $2 }'
}

over() {
	awk "BEGIN { print $1 / $2 }"
}

lab_fresh && lab_mkfs raid1c3 /dev/labda /dev/labdb /dev/labdc && lab_mount /dev/labda noatime ||
	bail_out 'no file system'
for n in $(seq 6); do
	fill "$LAB_MNT/$n"
done
pid=$(lab_average readers 6)
echo roundrobin >"$(lab_sysfs)/read_policy" || bail_out 'no policy'
one=$(readers 1) three=$(readers 3) six=$(lab_average readers 6)
diag "seconds: $one $three $six, pid $pid"
in_range "$(over "$three" "$one")" 0.3 1.1 'three readers of small files on three disks, over one that reads all'
in_range "$(over "$six" "$one")" 0.3 1.85 'six, over one'
# With two on each disk every read pays a seek until chance leaves one alone: soon on 6.12, not on 7.3.
in_range "$(over "$six" "$pid")" 0.1 0.85 'six, over six under pid'
try unmount umount "$LAB_MNT"
done_testing
