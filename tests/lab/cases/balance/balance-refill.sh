#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=600M,seed=1 --disk ssd:size=600M,seed=2
# lab: --disk hdd:size=600M,seed=3 --disk hdd:size=600M,seed=4
#
# Misplaced chunks with holes in them: neither what writers write nor what a balance
# moves goes there while there is another place.  So next to nothing is moved twice.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"

misplaced_used() {
	sync
	usage '.totals["misplaced-used"]'
}

chunks_misplaced() {
	usage '.profiles[] | "\(.kind) chunks \(.chunks) used \(.used) misplaced \(.["misplaced-used"])"'
}

# One third of what is written is deleted again, so that there are holes everywhere.
with_holes() {
	local dir

	for dir in $(seq 10); do
		lab_small_files "$LAB_MNT/mail$dir" 1200 1500 12000 >/dev/null || return
		lab_fill "$LAB_MNT/big$dir" 12 "$dir" && lab_fill "$LAB_MNT/gone$dir" 8 "$dir" || return
	done
	sync
	for dir in $(seq 10); do
		perl -e 'unlink map { "$ARGV[0]/" . 3 * $_ } 1 .. 400' "$LAB_MNT/mail$dir"
	done
	rm "$LAB_MNT"/gone*
	sync
}

writer() {
	local n=0

	while [ ! -e /tmp/stop ]; do
		n=$((n + 1))
		lab_small_files "$LAB_MNT/.w$n" 60 1500 9000
		lab_fill "$LAB_MNT/.b$n" 2 "$n" && sync -f "$LAB_MNT/.b$n"
		[ $n -lt 4 ] || rm -r "$LAB_MNT/.w$((n - 3))" "$LAB_MNT/.b$((n - 3))"
		sleep 0.2
	done
}

# Metadata disks and data disks, as roles() takes them.
turn() {
	local before after out pid

	roles "$1" "$2" || return
	before=$(misplaced_used)
	diag "$(chunks_misplaced)"
	lab_small_files "$LAB_MNT/.new" 400 1500 9000 >/dev/null
	lab_fill "$LAB_MNT/.newer" 24 5
	in_range "$(misplaced_used)" 1 "$before" "metadata on $1: new extents do not go to misplaced chunks"
	rm -r "$LAB_MNT/.new" "$LAB_MNT/.newer"
	before=$(misplaced_used)
	rm -f /tmp/stop
	writer >/tmp/writer 2>&1 &
	pid=$!
	lab_reset
	out=$(btrfs --format json balance --preferred-metadata "$LAB_MNT") || not_ok "balance: $out"
	touch /tmp/stop
	wait $pid
	sync
	after=$(jq '.[keys[1]].report["relocated-used"]' <<<"$out")
	diag "relocated $(mebibytes "$after") MiB for $(mebibytes "$before") MiB misplaced; written $(mebibytes "$(written)") MiB, writers included"
	# Writers go on meanwhile, so it is not exact.
	in_range "$after" 1 $((before * 105 / 100)) "metadata on $1: next to nothing is moved twice"
	is "$(verdict)" 0 "metadata on $1: usage -c is content"
	is "$(grep -v '^all$' /tmp/writer)" '' "metadata on $1: writers saw no error"
	rm -r "$LAB_MNT"/.[wb]*
}

try 'mkfs on the hard disks' lab_mkfs raid1 /dev/labdc /dev/labdd || bail_out mkfs
try 'mount' lab_mount /dev/labdc || bail_out mount
try 'files, and holes between them' with_holes || bail_out 'no files'
try 'SSDs come' btrfs -q device add -f /dev/labda /dev/labdb "$LAB_MNT"
sums >/tmp/before
turn '3 4' '1 2'
turn '1 2' '3 4'
nothing_lost /dev/labdc
done_testing
