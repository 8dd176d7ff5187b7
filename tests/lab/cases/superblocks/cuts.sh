# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A power cut while devices or places of metadata change beside a load that syncs. Sourced in the lab, after lib.sh, by
# power-cuts-full.sh and power-cuts-stock.sh, which say what is mounted then. $how is how power is cut.

. "$(dirname "${BASH_SOURCE[0]}")/../move-stripe/lib.sh"

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
