#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1200M --disk hdd:size=4G,seed=1 --disk hdd:size=4G,seed=2 --disk hdd:size=4G,seed=3 --disk hdd:size=4G,seed=4
#
# One stream with a large readahead on three hard disks: it takes turns on them, whatever becomes of the reader, a disk
# or the policy meanwhile. The bound is what is left where a drive enters the next turn before it is done with this one.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# rate POLICY: MiB/s of one reader
rate() {
	btrfs -q device policy set "$1" "$LAB_MNT" || bail_out "no policy $1"
	lab_drop_caches
	lab_warm "$LAB_MNT/file"
	sleep 1
	lab_read_rate "$LAB_MNT/file"
}

# while_reading NAME COMMAND...: in the middle of a read of the file, which sees nothing of it
while_reading() {
	local name=$1 reader

	shift
	lab_drop_caches
	lab_sum "$LAB_MNT/file" >/tmp/sum &
	reader=$!
	sleep 0.3
	try "$name" "$@"
	wait $reader
	is "$(cat /tmp/sum)" "$sum" "$name: contents"
	try "$name: nothing is left in flight" lab_idle
}

# Readers that are killed at any time, with what they have asked for on its way.
killed_readers() {
	local i

	for i in $(seq 20); do
		lab_drop_caches
		timeout -s KILL "0.$((i * 17 % 90 + 10))" cat "$LAB_MNT/file" >/dev/null
	done
	return 0
}

toggle() {
	local i

	for i in $(seq 20); do
		btrfs -q device policy set "$([ $((i % 2)) = 0 ] && echo roundrobin || echo pid)" "$LAB_MNT" || return
		sleep 0.03
	done
}

# A second reader of the same pages, far ahead in what the first has asked for.
read_ahead_of_it() {
	dd if="$LAB_MNT/file" bs=1M skip=300 count=40 status=none | cmp - <(lab_stream 1 640 | tail -c +$((300 * 2 ** 20 + 1)) | head -c 40M)
}

try mkfs lab_mkfs raid1c3 /dev/labda /dev/labdb /dev/labdc || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
# In one piece, or what a stream does between two pieces is measured, too.
lab_stream 1 640 | dd of="$LAB_MNT/file" bs=16M iflag=fullblock oflag=direct status=none
sum=$(lab_sum "$LAB_MNT/file")
try 'readahead of 16 MiB' btrfs -q device policy set roundrobin --readahead 16M "$LAB_MNT"
pid=$(rate pid)
roundrobin=$(lab_average rate roundrobin)
diag "pid $pid MiB/s, roundrobin $roundrobin MiB/s"
in_range "$(awk "BEGIN { print $roundrobin / $pid }")" 2.25 3 'roundrobin over pid'

while_reading 'killed readers' killed_readers
while_reading 'another policy and back' toggle
while_reading 'a second reader' read_ahead_of_it
while_reading 'a disk is slow' lab_slow /dev/labdb 1000
lab_slow /dev/labdb 100
while_reading 'replace' btrfs replace start -f -B /dev/labdb /dev/labdd "$LAB_MNT"
while_reading 'add' btrfs device add -f /dev/labdb "$LAB_MNT"
while_reading 'remove' btrfs device remove /dev/labdc "$LAB_MNT"
while_reading 'a disk fails' lab_power /dev/labda cut
try unmount umount "$LAB_MNT"
lab_power /dev/labda on
try 'btrfs check' btrfs check /dev/labdb
done_testing
