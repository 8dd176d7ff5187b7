#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=1G,seed=1,volatile=1 --disk hdd:size=1G,seed=2,volatile=1 --disk ssd:size=1G,seed=3,volatile=1
# lab: --disk ssd:size=1G,seed=4,volatile=1 --disk hdd:size=1G,seed=5,volatile=1 --disk ssd:size=1G,seed=6,volatile=1 --timeout 5400
# lab replace-hdd: --allow WARNING:.*dev-replace.c
# lab replace-ssd: --allow WARNING:.*dev-replace.c
# machines: add remove replace-hdd replace-ssd relocate move
#
# The power is cut while devices or places of metadata change beside a load that syncs, after each STEP-th write, on a new
# array each time. It is mounted without each device in turn, or with all. What was synced is there.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../move-stripe/lib.sh"

labdisk=/sys/module/labdisk/parameters
load=$(dirname "$0")/sync-load
old=(/dev/labda /dev/labdb /dev/labdc /dev/labdd)

all_disks() {
	local d

	for d in $(lab_disks); do
		lab_power "$d" "$1"
	done
}

# prepare: superblocks lag on an array where the change can be made
prepare() {
	wipefs -qa $(lab_disks)
	lab_mkfs raid1/raid1 "${old[@]}" && lab_mount /dev/labda &&
		btrfs -q device policy tag metadata-only 3 4 data-only 1 2 "$LAB_MNT" --force &&
		btrfs -q balance start --full-balance "$LAB_MNT" || bail_out 'no array'
	case $1 in
	remove|move) btrfs -q device add -f /dev/labde "$LAB_MNT" ;;
	relocate) btrfs -q device policy tag data-only 3 4 metadata-only 1 2 "$LAB_MNT" --force ;;
	esac
	mkdir "$LAB_MNT/work"
	lab_fill "$LAB_MNT/f" 4
	lags on
	sync_all
	rm -f /tmp/synced
	touch /tmp/synced
}

change() {
	case $1 in
	add) btrfs -q device add -f /dev/labde "$LAB_MNT" ;;
	remove) btrfs -q device remove 5 "$LAB_MNT" ;;
	replace-hdd) btrfs -q replace start -B -f 1 /dev/labde "$LAB_MNT" ;;
	replace-ssd) btrfs -q replace start -B -f 3 /dev/labdf "$LAB_MNT" ;;
	relocate) btrfs -q balance start -m -f "$LAB_MNT" ;;
	move) "$move" start "$stripe:5" ;;
	esac
}

# cut_at CHANGE WRITE: 1 if the change ended before
cut_at() {
	local left loader

	prepare "$1"
	stripe=$(stripes /dev/labda METADATA | awk 'NR == 1 { print $1 ":" $2 }')
	"$load" run "$LAB_MNT/work" "$2" /tmp/synced &
	loader=$!
	while [ "$(wc -l </tmp/synced)" -lt 5 ]; do
		sleep 0.05
	done
	echo "$2" >$labdisk/writes_left
	change "$1" >/tmp/changed 2>&1
	left=$(cat $labdisk/writes_left)
	# The load goes on until the cut.
	wait $loader
	[ "$(cat $labdisk/writes_left)" = 0 ] || not_ok "cut $2: the load ended before"
	echo 0 >$labdisk/writes_left
	all_disks "$how"
	umount "$LAB_MNT"
	btrfs device scan --forget
	echo 0 >$labdisk/dark
	all_disks on
	[ -z "$(lagging)" ] || lagged=$((lagged + 1))
	[ "$left" = 0 ]
}

# come_back DEVICE: without it, or with all if it is ''
come_back() {
	local by=/dev/labdb

	# Replaced, it may be no member any more.
	[ "$1" != /dev/labdb ] || by=/dev/labdd
	[ -z "$1" ] || lab_power "$1" 'cut keep'
	btrfs device scan >/dev/null 2>&1
	if lab_mount "$by" "${1:+degraded,ro}"; then
		promised=$((promised + $(wc -l </tmp/synced)))
		wrong+=$("$load" check "$LAB_MNT/work" /tmp/synced | sed "s|^|cut $n without '$1': |; s|\$|; |")
		umount "$LAB_MNT"
	else
		wrong+="cut $n: no mount without '$1'; "
	fi
	[ -z "$1" ] || lab_power "$1" on
	btrfs device scan --forget
}

promised=0 wrong='' checks='' cuts=0 lagged=0
for ((n = 1; n < 2000; n += ${STEP:-7})); do
	how="cut random $n"
	[ $((cuts % 2)) = 0 ] || how=cut
	cut_at "$1" $n || break
	cuts=$((cuts + 1))
	set -- "$1" '' "${old[@]}"
	come_back "${*:2 + n % 5:1}"
	[ $((n % 5)) != 0 ] || btrfs check --check-data-csum /dev/labdb >/tmp/check 2>&1 ||
		checks+="cut $n: $(tail -n 3 /tmp/check); "
done
is "$wrong" '' "$1: what was promised is there after $cuts cuts, $promised files"
is "$checks" '' 'btrfs check'
in_range $cuts 3 2000 'the change was cut in its middle'
in_range $promised $((5 * cuts)) 1000000 'files were promised'
in_range $lagged 1 $((cuts + 1)) 'superblocks lagged'
done_testing
