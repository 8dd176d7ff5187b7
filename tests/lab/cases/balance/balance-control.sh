#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=512M,seed=1 --disk ssd:size=512M,seed=2
# lab: --disk hdd:size=512M,seed=3 --disk hdd:size=512M,seed=4
#
# A run that relocates is what `btrfs balance status`, `pause`, `resume` and `cancel` know,
# and ^C; it waits for its turn, stops at a limit, and works in the background.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"

# Everything is misplaced again, on the other disks each time.
turn=0
turn() {
	turn=$((1 - turn))
	[ $turn = 1 ] && roles '3 4' '1 2' || roles '1 2' '3 4'
}

# Starts a run, and waits until the kernel is at work on one of its chunks.  ^C is not
# for what a script has in the background, unless that is told otherwise.
start() {
	turn
	env --default-signal=INT btrfs --format json balance --preferred-metadata --method relocate "$@" "$LAB_MNT" >/tmp/report 2>/tmp/errors &
	run=$!
	until_running
}

until_running() {
	local try

	for try in $(seq 1000); do
		btrfs balance status "$LAB_MNT" | grep -q 'is running' && return
		sleep 0.01
	done
	not_ok 'a balance is running'
}

# Sets `status` and `end`.
finished() {
	status=0
	wait $run || status=$?
	end=$(jq -r '.[keys[1]].report.end' /tmp/report)
}

finish_it() {
	try "$1" preferred
	is "$(verdict)" 0 "$1: nothing is left"
	is "$(cat "$(lab_sysfs)/exclusive_operation")" none "$1: no balance either"
}

old_disks_new_ssds 2 100

start
try 'pause' btrfs balance pause "$LAB_MNT"
finished
is "$status $end" '5 paused' 'a paused run ends and says so'
is "$(cat "$(lab_sysfs)/exclusive_operation")" 'balance paused' 'what it left is paused'
finish_it 'a second run resumes'

start
btrfs balance pause "$LAB_MNT"
finished
try 'resume by btrfs' btrfs balance resume "$LAB_MNT"
finish_it 'a run after that'

start
try 'cancel' btrfs balance cancel "$LAB_MNT"
finished
is "$status $end" '6 canceled' 'a cancelled run ends and says so'
is "$(cat "$(lab_sysfs)/exclusive_operation")" none 'and leaves nothing behind'
finish_it 'a run after cancel'

start
kill -INT $run
finished
is "$status $end" '7 stopped' '^C ends it behind a chunk'
finish_it 'a run after ^C'

start
kill -HUP $run
finished
is "$status $end" '7 stopped' 'so does SIGHUP'
finish_it 'a run after SIGHUP'

turn
is "$(btrfs --format json balance --preferred-metadata --method relocate --limit 1 "$LAB_MNT" |
	jq '.[keys[1]].report["relocated-chunks"]')" 1 '--limit 1 moves one chunk'

# Stands for the journal: takes one line.
perl -MSocket -MIO::Socket::UNIX -e 'alarm 300;
	$log = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => "/dev/log") or die;
	$log->recv($line, 4096); print "$line\n"' >/tmp/journal &
journal=$!
until [ -S /dev/log ]; do sleep 0.1; done
try '--background returns' preferred --method relocate --background
wait_for_balance || not_ok 'the background run ends'
for i in $(seq 600); do
	[ "$(verdict)" = 64 ] || break
	sleep 0.1
done
is "$(verdict)" 0 'the run in the background did it'
wait $journal
is "$(sed "s/.* btrfs-policy\[[0-9]*\]: //; s/[0-9]\+/N/g" /tmp/journal)" \
	"balance of '$LAB_MNT': Done, had to relocate N out of N chunks" 'and the journal has its result' || diag "$(cat /tmp/journal)"
rm -f /dev/log
wait_for_balance

turn
btrfs balance start --full-balance "$LAB_MNT" >/dev/null 2>&1 &
other=$!
until_running
preferred >/tmp/report 2>&1
is $? 2 "somebody else's balance: status 2"
preferred --background >/tmp/report 2>&1
is $? 2 "--background says so before it lets go"
try '--enqueue waits for it' preferred --enqueue
wait $other
finish_it 'a run after --enqueue'

nothing_lost /dev/labdc
done_testing
