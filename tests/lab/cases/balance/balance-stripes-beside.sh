#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 256M --disk ssd:size=6G,seed=1 --disk ssd:size=6G,seed=2 --disk hdd:size=12G,seed=3 --disk hdd:size=12G,seed=4
#
# What a reader, a task that calls fsync and one that writes a stream notice of metadata that moves to and fro between
# hard disks and SSDs, by its stripes and by relocation, and of stripes that are copied at 2.5 MiB/s, about the rate of
# relocation. All three work at a fixed rate.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"
. "$(dirname "$LAB_LIB")/stripes.sh"
. "$(dirname "$0")/../move-stripe/lib.sh"

seconds=60

# to_and_fro METHOD: moves until /tmp/stop is there
to_and_fro() {
	while [ ! -e /tmp/stop ]; do
		to_ssds && move_by "$1" && to_disks && move_by "$1" || return
	done
	[ "$(of_report relocated-chunks)" != 0 ]
}

# Stripes of metadata from the hard disks, devids 1 and 2, to the SSDs, 3 and 4, as far as they come
at_limit() {
	"$move" start limit=2621440 $(stripes /dev/labdc METADATA | awk '{ print $1 ":" $2 ":" $3 + 2 }') >/tmp/limited &
	while [ ! -e /tmp/stop ]; do
		sleep 0.1
	done
	"$move" cancel
	wait
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

# beside WHAT [COMMAND...]: /tmp/WHAT has the figures
beside() {
	local pid='' what=$1

	shift
	rm -f /tmp/stop
	if [ $# != 0 ]; then
		"$@" &
		pid=$!
	fi
	foreground >"/tmp/$what" 2>/tmp/fio || { cat /tmp/fio; return 1; }
	touch /tmp/stop
	[ -z "$pid" ] || wait "$pid"
}

# at_most WHAT THAN TIMES: no p99 of WHAT is more than so many times that of THAN
at_most() {
	local n

	for n in 1 2 3; do
		in_range "$(awk -v n=$n 'NR == FNR { a = $n; next } { printf "%.2f", a / $n }' "/tmp/$1" "/tmp/$2")" 0 "$3" \
			"p99 of $(cut -d ' ' -f $n <<<'reads fsync writes'), $1 to $2"
	done
}

try 'files and snapshots' many_files 80000 8 || bail_out many_files
lab_fill "$LAB_MNT/big" 400
sums tree >/tmp/before
try 'nothing' beside idle
try 'stripes' beside stripes to_and_fro stripes
try 'relocation' beside relocation to_and_fro relocate
try 'stripes at a limit' beside limit at_limit
diag "at a limit: $(cat /tmp/limited)"
for what in idle stripes relocation limit; do
	diag "$what: p99 of reads, fsync, writes $(cat /tmp/$what) ms"
done
at_most stripes relocation 1.2
at_most limit idle 1.1
nothing_lost /dev/labdc tree
done_testing
