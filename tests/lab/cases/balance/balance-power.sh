#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=512M,seed=1,volatile=1 --disk ssd:size=512M,seed=2,volatile=1
# lab: --disk hdd:size=512M,seed=3,volatile=1 --disk hdd:size=512M,seed=4,volatile=1
#
# The power fails at random moments, and half of what was not flushed is lost: after
# the next mount a second run finishes what the first one began.  Roles turn around
# each time, so that there is always everything to move, by stripes and by relocation.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"
RANDOM=4711
methods=(auto relocate)

power() {
	local disk

	for disk in $(lab_disks); do
		lab_power "$disk" "$1"
	done
}

# Cuts at a moment up to $1 milliseconds after the start, with seed $2.
cut_one() {
	local pid

	btrfs balance --preferred-metadata --method "${methods[round / 2 % 2]}" "$LAB_MNT" >/tmp/said 2>&1 &
	pid=$!
	sleep "$(awk -v ms="$((RANDOM % $1))" 'BEGIN { print ms / 1000 }')"
	power "cut random $2"
	wait $pid || cut=$((cut + 1))
	# The kernel complained of the cut, and rightly.
	umount "$LAB_MNT" && dmesg --clear && power on && lab_mount /dev/labdc
}

old_disks_new_ssds 2 100
roles '3 4' '1 2'
whole=$(lab_time preferred) || bail_out "$(preferred 2>&1)"
diag "a whole run takes $whole ms"
cut=0
for round in $(seq "${CUTS:-6}"); do
	[ $((round % 2)) = 0 ] && roles '3 4' '1 2' || roles '1 2' '3 4'
	sync
	cut_one "$whole" "$round" || bail_out "round $round: no mount after the cut"
	out=$(preferred 2>&1) || { not_ok "round $round: the second run"; diag "$out"; }
	[ "$(verdict)" = 0 ] || not_ok "round $round: usage -c is content"
	sums >/tmp/after
	cmp -s /tmp/before /tmp/after || not_ok "round $round: contents are unchanged"
done
in_range "$cut" 1 "${CUTS:-6}" "runs that a power cut ended, of ${CUTS:-6}"
is "$(cat "$(lab_sysfs)/exclusive_operation")" none 'no balance is left behind'
try 'scrub finds nothing' lab_scrub
nothing_lost /dev/labdc
done_testing
