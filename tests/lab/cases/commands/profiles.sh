#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 2G --disk hdd:size=3G,seed=1 --disk hdd:size=3G,seed=2 --disk hdd:size=3G,seed=3 --disk hdd:size=3G,seed=4
# lab: --disk ssd:size=2G,seed=5 --disk ssd:size=2G,seed=6 --disk ssd:size=2G,seed=7 --disk ssd:size=2G,seed=8
#
# The commands on every profile: four hard disks and four SSDs, tagged, balanced,
# read with both policies, contents and `btrfs check` after each.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
hdds=(/dev/labda /dev/labdb /dev/labdc /dev/labdd)
ssds=(/dev/labde /dev/labdf /dev/labdg /dev/labdh)

# Bytes of metadata and system on rotational devices plus bytes of data on others.
wrong_bytes() {
	btrfs --format json device policy usage "$LAB_MNT" | jq '[.[keys[1]].devices[] |
		if .rotational then ."metadata-bytes" + ."system-bytes" else ."data-bytes" end] | add'
}

make() {
	lab_fresh && lab_mkfs "$1" "${hdds[@]}" && lab_mount /dev/labda
}

# profile DATA METADATA: the whole story, without a word while it goes well
profile() {
	make "$1/$2" && lab_fill "$LAB_MNT/a" 40 && cp -a "$(dirname "$LAB_LIB")/.." "$LAB_MNT/tree" &&
		btrfs device add -f "${ssds[@]}" "$LAB_MNT" || return
	sums=$(cd "$LAB_MNT" && find . -type f -print0 | sort -z | xargs -0 sha256sum)
	btrfs -q device policy tag metadata-only nonrotational "$LAB_MNT" || return
	btrfs -q device policy tag data-only rotational "$LAB_MNT" || return
	btrfs -q balance --preferred-metadata "$LAB_MNT" || return
	btrfs device policy usage -c "$LAB_MNT" >/dev/null || return
	[ "$(wrong_bytes)" = 0 ] ||
		{ btrfs device policy usage -T "$LAB_MNT"; return 1; }
	for policy in roundrobin pid; do
		btrfs -q device policy set $policy "$LAB_MNT" || return
		lab_drop_caches
		[ "$sums" = "$(cd "$LAB_MNT" && find . -type f -print0 | sort -z | xargs -0 sha256sum)" ] ||
			{ echo "contents differ under $policy"; return 1; }
	done
	umount "$LAB_MNT" && btrfs check /dev/labda
}

# degraded PROFILE: a mirror is gone, both policies read what is left
degraded() {
	make "$1" && lab_fill "$LAB_MNT/a" 100 || return
	sums=$(lab_sum "$LAB_MNT/a")
	umount "$LAB_MNT" && lab_wipe /dev/labdb &&
		btrfs device scan /dev/labdc /dev/labdd >/dev/null && lab_mount /dev/labda degraded || return
	for policy in roundrobin pid; do
		btrfs -q device policy set $policy "$LAB_MNT" || return
		lab_drop_caches
		[ "$sums" = "$(lab_sum "$LAB_MNT/a")" ] || { echo "contents differ under $policy"; return 1; }
	done
	btrfs device policy show "$LAB_MNT" | grep -q 'Devices missing: *1' || return
	umount "$LAB_MNT"
}

for data in single raid1 raid1c3 raid1c4 raid10; do
	for metadata in single dup raid1 raid1c3 raid1c4 raid10; do
		# All pairs of mirrors side by side would say little more than these.
		case $data/$metadata in
		single/*|*/raid1|raid10/*|raid1/raid10) ;;
		*) continue ;;
		esac
		try "data $data, metadata $metadata" profile $data $metadata
	done
done
for both in raid1 raid1c3 raid1c4 raid10; do
	try "$both with a missing device" degraded $both
done
done_testing
