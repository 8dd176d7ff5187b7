#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=2G,seed=1 --disk ssd:size=2G,seed=2 --disk ssd:size=2G,seed=3 --disk ssd:size=2G,seed=4
# lab: --disk hdd:size=6G,seed=5 --disk hdd:size=6G,seed=6 --disk hdd:size=6G,seed=7 --disk hdd:size=6G,seed=8
#
# Where chunks land: profiles, metadata roles that prefer and that exclude,
# enough and too few devices of the first choice.  The SSDs have the first
# devids; the hard disks have more space, so that without roles they would win.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
ssds=(/dev/labda /dev/labdb /dev/labdc /dev/labdd)
hdds=(/dev/labde /dev/labdf /dev/labdg /dev/labdh)

# Profile and devids of all chunks of a kind, in ascending order, each set once.
sets() {
	local kind profile bytes devids

	lab_chunks /dev/labda | while read -r kind profile bytes devids; do
		[ "$kind" != "$1" ] || echo "$profile" $(xargs -n1 <<<"$devids" | sort -n)
	done | sort -u
}

# fits KIND PROFILE WANTED: WANTED is devids, or "with N": devids 1 to N are among those of each chunk
fits() {
	local got want="$2 $3"

	got=$(sets "$1")
	case $3 in
	with*) want="$2 $(seq -s' ' "${3#with }")"
		[ -n "$got" ] && ! grep -qv "^$want " <<<"$got" && return ;;
	*) [ "$got" = "$want" ] && return ;;
	esac
	echo "$1: $(paste -sd, <<<"$got"), not $2 $3"
	return 1
}

place() {
	local profile=$1 fast=$2 slow=$3 metadata=$4 data=$5 wanted=$6 shown

	shown=${profile^^}
	[ "$profile" != single ] || shown=single
	lab_fresh && lab_mkfs single "${ssds[@]:0:fast}" "${hdds[@]:0:slow}" && lab_mount /dev/labda &&
		btrfs -q device policy tag "$metadata" nonrotational "$LAB_MNT" &&
		btrfs -q device policy tag "$data" rotational "$LAB_MNT" &&
		btrfs balance start --force -mconvert="$profile" "$LAB_MNT" >/dev/null || return
	lab_fill "$LAB_MNT/f" 8
	fits METADATA "$shown" "$wanted" && fits SYSTEM "$shown" "$wanted" || return
	[ "$(cat "$(lab_sysfs)/allocation/metadata/misplaced_bytes")" = 0 ] || { echo misplaced; return 1; }
	umount "$LAB_MNT" && btrfs check /dev/labda
}

# expect PROFILE SSDS HDDS WANTED: with both roles for metadata
expect() {
	local role

	for role in metadata-preferred metadata-only; do
		try "$1 of $2 $role and $3 others: $4" place "$1" "$2" "$3" $role data-preferred "$4"
	done
}

# Enough devices that prefer metadata.
expect single 1 2 '1'
expect dup 1 2 '1 1'
expect raid1 2 2 '1 2'
expect raid1c3 3 2 '1 2 3'
expect raid1c4 4 1 '1 2 3 4'
expect raid10 4 2 '1 2 3 4'
expect raid0 2 3 '1 2'
expect raid0 1 3 '1'
expect raid5 3 2 '1 2 3'
expect raid6 4 1 '1 2 3 4'
# Too few: they are in every chunk, the rest goes to the others.
expect raid1 1 1 '1 2'
expect raid1 1 3 'with 1'
expect raid1c3 1 4 'with 1'
expect raid1c3 1 2 '1 2 3'
expect raid1c4 2 3 'with 2'
expect raid1c4 2 2 '1 2 3 4'
expect raid10 1 3 '1 2 3 4'
expect raid5 1 3 '1 2 3 4'
expect raid6 2 3 '1 2 3 4 5'
try 'raid1, all exclusive' place raid1 2 2 metadata-only data-only '1 2'
try 'raid0, others exclusive' place raid0 2 2 metadata-preferred data-only '1 2'
done_testing
