#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1,volatile=1 --disk ssd:size=1G,seed=2,volatile=1 --disk ssd:size=768M,seed=3,volatile=1
# lab: --disk hdd:size=1G,seed=4,volatile=1 --disk ssd:size=768M,seed=5,volatile=1 --disk ssd:size=1G,seed=6,volatile=1
#
# Random arrays are drained of some devices, and in the middle of it the drain is killed, paused, or the power fails, or a writer
# takes all space: the contents are right, and the drain goes on or is taken back.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
RANDOM=815
profiles=(single/dup raid1/raid1 raid1/raid1c3 raid1c3/raid1c3 raid10/raid1 raid10/raid10 raid0/raid1 raid5/raid1 raid6/raid1c3)
upsets=(kill cut pause full none)

power() {
	local disk

	for disk in $(lab_disks); do
		lab_power "$disk" "$1"
	done
}

sums() {
	(cd "$LAB_MNT" && find . -type f ! -name 'full*' -exec md5sum {} + | sort -k 2)
}

array() {
	umount "$LAB_MNT" 2>/dev/null
	lab_fresh && lab_mkfs "$1" $(lab_disks) && lab_mount /dev/labda || bail_out "$1"
	lab_fill "$LAB_MNT/file" $((100 + RANDOM % 300)) "$RANDOM"
	lab_small_files "$LAB_MNT/small" 500 $((RANDOM % 3000)) >/dev/null
	[ $((RANDOM % 3)) = 0 ] && rm "$LAB_MNT"/small/*5
	sync
	sums >/tmp/before
}

draining() {
	btrfs device policy get role "$LAB_MNT" | awk '$3 == "draining" { printf "%s ", $1 }'
}

# upset KIND: while the drain $drain runs
upset() {
	sleep "0.$((RANDOM % 1000 + 1000))" # 0.1 to 0.2 s
	case $1 in
	kill) kill -KILL $drain ;;
	pause) btrfs balance pause "$LAB_MNT" ;;
	full) lab_take_all "$LAB_MNT/full" ;;
	cut) power "cut random $round" ;;
	esac >/dev/null 2>&1
	wait $drain 2>/dev/null
	ended[$?]=1
	[ "$1" = cut ] || return 0
	umount "$LAB_MNT" && dmesg --clear && power on && btrfs device scan >/dev/null && lab_mount /dev/labda
}

# The rest of it; without room the devices get their roles back.
go_on() {
	rm -f "$LAB_MNT"/full*
	sync
	if ! btrfs device policy drain --resume "$LAB_MNT" >/tmp/said 2>&1; then
		grep -q 'ERROR: .*\(not fit\|too little\|less to grow\|no space\)' /tmp/said || return
		btrfs device policy drain --undo "$LAB_MNT" >/dev/null || return
		undone=$((undone + 1))
		[ -z "$(draining)" ]
		return
	fi
	[ -z "$(draining)" ] && return
	done=$((done + 1))
	for devid in $(draining); do
		[[ " $(lab_devids /dev/labda DATA METADATA SYSTEM) " != *" $devid "* ]] || { echo "something is on $devid"; return 1; }
	done
}

done=0 undone=0 declare -A ended
for round in $(seq "${ROUNDS:-9}"); do
	profile=${profiles[round % 9]} kind=${upsets[round % 5]}
	array "$profile"
	mapfile -t devids < <(shuf -n $((RANDOM % 2 + 1)) --random-source=<(yes "$RANDOM") -i 2-6)
	btrfs device policy drain "${devids[@]}" "$LAB_MNT" >/tmp/said 2>&1 &
	drain=$!
	upset "$kind" || bail_out "round $round, $profile, $kind: no mount"
	go_on || not_ok "round $round: $profile, $kind, ${devids[*]}: $(cat /tmp/said)"
	sums >/tmp/after
	cmp -s /tmp/before /tmp/after || not_ok "round $round: $profile, $kind: contents"
	umount "$LAB_MNT"
	btrfs check /dev/labda >/tmp/check 2>&1 || not_ok "round $round: $profile, $kind: btrfs check: $(grep -v ^Opening /tmp/check | head -n 3)"
	lab_mount /dev/labda || bail_out "round $round: mount"
done
diag "$done drained to the end, $undone undone, statuses ${!ended[*]}"
in_range $done $((round / 2)) "$round" 'are drained to the end'
try unmount umount "$LAB_MNT"
done_testing
