#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 2G
# lab: --disk hdd:size=2G,seed=11 --disk hdd:size=2G,seed=12 --disk hdd:size=2G,seed=13
# lab: --disk hdd:size=2G,seed=41 --disk hdd:size=2G,seed=42 --disk hdd:size=2G,seed=43
#
# Three streams on three hard disks, from many different beginnings: where the
# platters are, which file is where, which starts when, what the policy knows of
# the disks and how long they have rested.  On average each stream gets nearly a
# disk of its own, and hardly any beginning leaves two of them on one.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

size=96
lowest=1000 worst= low=0 sum=0 count=0

policy() {
	echo "$1" >"$(lab_sysfs)/read_policy" || bail_out "no policy $1"
}

# reader FILE SECONDS: MiB/s, from its own start to its own end
reader() {
	local start

	sleep "$2"
	start=$(lab_now)
	cat "$LAB_MNT/f$1" >/dev/null
	awk -v mib=$size -v ns=$(($(lab_now) - start)) 'BEGIN { print mib / (ns / 1e9) }'
}

# streams PAUSE STAGGER FILE...: MiB/s of the slowest; each starts STAGGER seconds after the last
streams() {
	local pause=$1 stagger=$2 n=0 file

	shift 2
	lab_drop_caches
	lab_warm "$LAB_MNT"/f*
	sleep "$pause"
	for file; do
		reader "$file" "$(awk "BEGIN { print $n * $stagger }")" >"/tmp/rate$n" &
		n=$((n + 1))
	done
	wait
	cat /tmp/rate* | sort -g | head -1
	rm /tmp/rate*
}

# beginning PAUSE STAGGER FILE...: counts the slowest over one disk's into $sum, $low and $lowest
beginning() {
	local ratio

	ratio=$(awk "BEGIN { print $(streams "$@") / $one }")
	diag "pause $1 s, stagger $2 s, files ${*:3}: $ratio"
	sum=$(awk "BEGIN { print $sum + $ratio }") count=$((count + 1))
	[ "$(awk "BEGIN { print $ratio < 0.85 }")" = 0 ] || low=$((low + 1))
	[ "$(awk "BEGIN { print $ratio < $lowest }")" = 0 ] || lowest=$ratio worst=$*
}

# array DEVICE...: from all beginnings
array() {
	local n pause stagger

	lab_fresh && lab_mkfs raid1c3 "$@" && lab_mount "$1" noatime || bail_out "no file system on $*"
	for n in 1 2 3 4; do
		lab_fill "$LAB_MNT/f$n" $size "$n" && sync
	done
	policy pid
	one=$(streams 0 0 1)
	policy roundrobin
	lowest=1000 low=0 sum=0 count=0
	for pause in 0 0.003 0.013 0.05 0.11 0.4 1.3; do
		beginning $pause 0 1 2 3
		beginning $pause 0 4 3 2
	done
	for stagger in 0.0001 0.001 0.005 0.02 0.08; do
		beginning 0.1 $stagger 3 1 2
		beginning 0.7 $stagger 2 4 1
	done
	# Tasks that begin on one disk by their numbers share it until they count as streams.
	in_range "$(awk "BEGIN { print $sum / $count }")" 0.93 1.6 "$*: slowest stream over one disk, on average"
	# Now and then one finds two streams on a disk until another ends.
	diag "the worst of all: $lowest ($worst)"
	in_range "$low" 0 2 "$*: beginnings with less than 0.85"
	try 'nothing is left in flight' lab_idle
}

array /dev/labda /dev/labdb /dev/labdc
array /dev/labdd /dev/labde /dev/labdf
try unmount umount "$LAB_MNT"
done_testing
