#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk ssd:size=2G,seed=3 --disk ssd:size=2G,seed=4
#
# A run that moves stripes: one copy of each chunk where one is misplaced, ^C and SIGKILL in the middle
# of a stripe, a freeze, a chunk with an active swap file, and another operation.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"

# Starts a run, and waits until a stripe moves.
start() {
	local try

	env --default-signal=INT btrfs --format json balance --preferred-metadata "$@" "$LAB_MNT" >/tmp/report 2>/tmp/errors &
	run=$!
	for try in $(seq 4000); do
		[ "$(cat "$(lab_sysfs)/exclusive_operation")" != 'move stripes' ] || return
		sleep 0.005
	done
	not_ok 'a stripe moves'
}

# Sets `status` and `end`.
finished() {
	status=0
	wait $run || status=$?
	end=$(of_report end)
}

of_report() {
	jq -r ".[keys[1]].report[\"$1\"]" /tmp/report
}

tag() {
	btrfs -q device policy tag "$@" "$LAB_MNT" --force
}

# moved WHAT COPIES: a whole run, by stripes, of so many copies of the metadata
moved() {
	local used copied

	used=$(usage '[.profiles[] | select(.kind != "Data") | .["misplaced-used"]] | add')
	try "$1" eval 'btrfs --format json balance --preferred-metadata "$LAB_MNT" >/tmp/report'
	copied=$(of_report copied-bytes)
	is "$(of_report by-stripes-chunks)" "$(of_report relocated-chunks)" "$1: by stripes"
	in_range "$copied" $(($2 * used * 98 / 100)) $(($2 * used * 102 / 100 + (8 << 20))) "bytes copied of $used, $1"
	is "$(verdict)" 0 "$1: nothing is left"
}

try mkfs lab_mkfs single/raid1 /dev/labda /dev/labdb || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'small files' [ "$(lab_small_files "$LAB_MNT/small" 20000 2000 8000)" = all ]
lab_fill "$LAB_MNT/f" 100
touch "$LAB_MNT/swap"
chattr +C "$LAB_MNT/swap"
lab_fill "$LAB_MNT/swap" 20
chmod 600 "$LAB_MNT/swap"
try 'two SSDs' btrfs -q device add -f /dev/labdc /dev/labdd "$LAB_MNT"
sums >/tmp/before

tag metadata-preferred 3
moved 'one SSD' 1
tag metadata-preferred 4
moved 'a second one' 1
is "$(lab_devids /dev/labda METADATA SYSTEM)" '3 4' 'metadata is on both'

tag data-only 3 4
start
began=$(lab_now)
kill -INT $run
finished
is "$status $end" '7 stopped' '^C ends it'
in_range $((($(lab_now) - began) / 1000000)) 0 400 'ms after ^C, in the middle of a stripe'
is "$(cat "$(lab_sysfs)/exclusive_operation")" none 'no operation is left'
start
btrfs balance pause "$LAB_MNT" >/tmp/said 2>&1
is $? 2 'it is no balance that can be paused'
kill -KILL $run
wait $run 2>/dev/null
start --limit 1
btrfs --dry-run balance --preferred-metadata "$LAB_MNT" >/tmp/said 2>&1
is "$? $(grep -c "another exclusive operation 'move stripes' is running" /tmp/said)" '2 1' 'another run is refused meanwhile'
finished
is "$status $end" '0 limit' 'after SIGKILL a run of one chunk'
start
try 'freeze' fsfreeze -f "$LAB_MNT"
sleep 2
is "$(jobs -r | wc -l)" 1 'the run waits for the end of the freeze'
try 'thaw' fsfreeze -u "$LAB_MNT"
finished
is "$status $end" '0 done' 'then it goes on to the end'
is "$(verdict)" 0 'nothing is left'
is "$(lab_devids /dev/labda METADATA SYSTEM)" '1 2' 'metadata is on the disks again'

mkswap -q "$LAB_MNT/swap"
try 'a swap file' swapon "$LAB_MNT/swap"
tag metadata-only 1 2
tag data-preferred 3 4
preferred >/tmp/said 2>&1
is "$? $(grep -c 'an active swap file is in the chunk; run .swapoff.' /tmp/said)" '0 1' 'it is named' || diag "$(cat /tmp/said)"
is "$(verdict)" 64 'its chunk stays'
try 'swapoff' swapoff "$LAB_MNT/swap"
lab_fill "$LAB_MNT/swap" 20
try 'then it moves' preferred
is "$(verdict)" 0 'nothing is left'
nothing_lost /dev/labda
done_testing
