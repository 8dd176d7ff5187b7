#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1,volatile=1 --disk ssd:size=1G,seed=2,volatile=1 --disk hdd:size=1G,seed=3,volatile=1
# machines: METADATA DATA SYSTEM
#
# Power cuts throughout a move of a stripe without another copy: afterwards it is in the old place or in the new one, and contents, checksums and trees are right.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"
kind=$1 cuts=30

all_disks() {
	local d

	for d in $(lab_disks); do
		lab_power "$d" "$1"
	done
}

# The address of something that is in a chunk of the kind
address() {
	case $kind in
	DATA) filefrag -v -b4096 "$LAB_MNT/f" | awk '$1 == "0:" { print int($4) * 4096 }' ;;
	METADATA) btrfs inspect-internal dump-tree -t 5 /dev/labda | awk '$1 == "leaf" { print $2; exit }' ;;
	SYSTEM) btrfs inspect-internal dump-tree -t chunk /dev/labda | awk '$1 == "leaf" { print $2; exit }' ;;
	esac
}

# The stripe of its chunk, and a device without one
choose() {
	sync
	read -r chunk stripe from <<<"$(stripes /dev/labda "$kind" | awk -v address="$(address)" '
		$1 <= address { out = $1 " " $2 " " $3 } END { print out }')"
	target=$(vacant /dev/labda "$chunk" 3 | head -n 1)
}

# cut_power NS HOW: the power, so long after the move has begun
cut_power() {
	local now

	"$move" start "$chunk:$stripe:$target" >/tmp/moved 2>&1 &
	sleep "$(awk -v ns="$1" 'BEGIN { printf "%.6f", ns / 1e9 }')"
	all_disks "$2"
	wait
	umount "$LAB_MNT"
	all_disks on
	dmesg -C
	btrfs check --check-data-csum /dev/labda >/tmp/check 2>&1 || { not_ok "cut $1, $2: check: $(tail -n 5 /tmp/check)"; return; }
	lab_mount /dev/labda || bail_out "cut $1: cannot be mounted any more"
	now=$(at /dev/labda "$chunk" "$stripe")
	case $now in
	"$from") old=$((old + 1)) ;;
	"$target") new=$((new + 1)) ;;
	*) not_ok "cut $1, $2: the stripe is on device '$now'"; return ;;
	esac
	[ "$(lab_sum "$LAB_MNT/f" "$LAB_MNT"/small/*)" = "$sum" ] || { not_ok "cut $1, $2: contents"; return; }
	good=$((good + 1))
}

try mkfs lab_mkfs single/single $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_fill "$LAB_MNT/f" 12
lab_small_files "$LAB_MNT/small" 1500 1500 >/dev/null
sync
sum=$(lab_sum "$LAB_MNT/f" "$LAB_MNT"/small/*)
choose
start=$(lab_now)
try 'a move without a cut' "$move" start "$chunk:$stripe:$target"
length=$(($(lab_now) - start))
old=0 new=0 good=0
for n in $(seq $cuts); do
	choose
	case $((n % 3)) in
	0) how=cut ;;
	1) how='cut keep' ;;
	2) how="cut random $n" ;;
	esac
	cut_power $((length * n * 12 / 10 / cuts)) "$how"
done
is $good $cuts "right after each of $cuts cuts in $((length / 1000000)) ms"
in_range $old 3 $((cuts - 3)) 'cuts that left the old place'
in_range $new 3 $((cuts - 3)) 'cuts that left the new one'
dmesg -C
try scrub lab_scrub
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda
done_testing
