#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=512M,seed=1 --disk ssd:size=512M,seed=2
# lab: --disk hdd:size=512M,seed=3 --disk hdd:size=512M,seed=4
#
# kill -9 at random moments: a second run finishes what the first one began.
# Roles turn around each time, so that there is always everything to move, by stripes
# and by relocation.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"
RANDOM=4711
killed=0
methods=(auto relocate)

# Kills at a moment up to $1 milliseconds after the start.
kill_one() {
	local pid

	btrfs balance --preferred-metadata --method "${methods[round / 2 % 2]}" "$LAB_MNT" >/tmp/said 2>&1 &
	pid=$!
	sleep "$(awk -v ms="$((RANDOM % $1))" 'BEGIN { print ms / 1000 }')"
	kill -KILL $pid 2>/dev/null && killed=$((killed + 1))
	wait $pid 2>/dev/null
}

old_disks_new_ssds 2 100
roles '3 4' '1 2'
whole=$(lab_time preferred) || bail_out "$(preferred 2>&1)"
diag "a whole run takes $whole ms"
for round in $(seq "${KILLS:-6}"); do
	[ $((round % 2)) = 0 ] && roles '3 4' '1 2' || roles '1 2' '3 4'
	kill_one "$whole"
	out=$(preferred 2>&1) || { not_ok "round $round: the second run"; diag "$out"; }
	[ "$(verdict)" = 0 ] || not_ok "round $round: usage -c is content"
done
in_range $killed $((${KILLS:-6} / 2)) 1000 'runs that were killed'
is "$(cat "$(lab_sysfs)/exclusive_operation")" none 'no balance is left behind'
nothing_lost /dev/labdc
done_testing
