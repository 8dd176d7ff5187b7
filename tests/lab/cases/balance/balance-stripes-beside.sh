#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 256M --disk ssd:size=6G,seed=1 --disk ssd:size=6G,seed=2 --disk hdd:size=12G,seed=3 --disk hdd:size=12G,seed=4
#
# What a reader, a task that calls fsync and one that writes a stream notice of metadata that moves from hard disks to
# SSDs, by its stripes and by relocation, and of stripes that are copied at 2.5 MiB/s, about the rate of
# relocation. All three work at a fixed rate.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"
. "$(dirname "$LAB_LIB")/stripes.sh"
. "$(dirname "$0")/../move-stripe/lib.sh"

windows=6 seconds=8

# from_disks [NAME=VALUE]: stripes of metadata from the hard disks, devids 1 and 2, to the SSDs, 3 and 4
from_disks() {
	"$move" start "$@" $(stripes /dev/labdc METADATA | awk '$3 < 3 { print $1 ":" $2 ":" $3 + 2 }') >/tmp/moved
}

back() {
	"$move" start $(stripes /dev/labdc METADATA | awk '$3 > 2 { print $1 ":" $2 ":" $3 - 2 }') >/dev/null &&
	lab_drop_caches
}

relocation() {
	to_ssds && btrfs -q balance --preferred-metadata --method relocate "$LAB_MNT"
}

# p99 in ms of reads, fsyncs and writes of the stream
foreground() {
	(set -o pipefail; lab_measure --directory="$LAB_MNT" --time_based --runtime=$seconds --ioengine=psync \
		--name=read --filename=big --rw=randread --bs=64k --rate_iops=20 --direct=1 \
		--name=fsync --rw=write --bs=4k --size=64m --fsync=1 --rate_iops=5 \
		--name=stream --rw=write --bs=1m --direct=1 --size=512m --rate=20m |
		awk '$1 == "read" { read = $4 } $1 == "fsync" { sync = $9 } $1 == "stream" { write = $7 }
			END { print read, sync, write }')
}

# beside WHAT WINDOWS [COMMAND...]: p99s of each window go to /tmp/WHAT; the command ends with the last one
beside() {
	local n pid=''

	if [ $# -gt 2 ]; then
		"${@:3}" >/tmp/mover 2>&1 &
		pid=$!
	fi
	for n in $(seq "$2"); do
		foreground >>"/tmp/$1" 2>/tmp/fio || { cat /tmp/fio; return 1; }
	done
	[ -n "$pid" ] || return 0
	"$move" cancel || btrfs balance cancel "$LAB_MNT"
	wait
}

mean() {
	awk '{ r += $1; s += $2; w += $3 } END { printf "%.1f %.1f %.1f\n", r / NR, s / NR, w / NR }' "/tmp/$1"
}

# at_most WHAT THAN TIMES: no mean p99 of WHAT is more than so many times that of THAN
at_most() {
	local n

	for n in 1 2 3; do
		in_range "$(awk -v n=$n 'NR == 1 { a = $n } NR == 2 { printf "%.2f", a / $n }' <<<"$(mean "$1"; mean "$2")")" 0 "$3" \
			"p99 of $(cut -d ' ' -f $n <<<'reads fsync writes'), $1 to $2"
	done
}

try 'files and snapshots' many_files 80000 8 || bail_out many_files
lab_fill "$LAB_MNT/big" 400
sums tree >/tmp/before
try 'idle' beside idle $windows
for n in $(seq $windows); do
	try "stripes, window $n" beside stripes 1 from_disks
	diag "$(cat /tmp/moved)"
	try 'back' back
done
try 'stripes at a limit' beside limit $windows from_disks limit=2621440
diag "at a limit: $(cat /tmp/moved)"
try 'back' back
try 'relocation' beside relocation $windows relocation
for what in idle stripes limit relocation; do
	diag "$what: p99 of reads, fsync, writes $(mean $what) ms"
done
at_most stripes relocation 1.2
at_most limit idle 1.1
nothing_lost /dev/labdc tree
done_testing
