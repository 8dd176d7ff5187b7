#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What scrub makes of each kind of damage in each profile, stock beside it: rubbish in data (on RAID5 and
# RAID6 also in parity) and in trees, a missing device, sectors that cannot be read. As much is repaired,
# and what mirrors have is counted alike. Prints all figures.
#	PROFILES="raid5 raid6" KINDS="data trees" corruption.sh
. "$(dirname "$0")/lib.sh"

# PROFILE, that of metadata, disks, and the devices that are damaged: as many as it can lose
profiles() {
	cat <<'TABLE'
single dup 1 1
dup dup 1 1
raid0 raid1 3 2
raid1 raid1 2 2
raid1c3 raid1c3 3 2 3
raid1c4 raid1c4 4 2 3 4
raid10 raid10 4 2
raid5 raid5 4 2
raid6 raid6 5 2 4
TABLE
}

# extents KIND: device extents of chunks of data or of trees, one of the two that DUP has on a device
extents() {
	awk -v trees="$([ "$1" = trees ] && echo 1)" '($4 !~ /^DATA/) == (trees == 1) && !seen[$1, $5]++' "$work/extents"
}

# damage KIND DEVID...: to $work/made; the places are in $work/places
damage() {
	local kind=$1

	shift
	rm -rf "$work/made"
	cp -r --sparse=always "$work/before" "$work/made"
	case $kind in
	data) extents data | "$here/damage.pl" write "$work/made" 65 13 "$@" ;;
	trees) extents trees | MOST_MIB=1024 "$here/damage.pl" write "$work/made" 9 4 "$@" ;;
	unreadable) extents data | "$here/damage.pl" write "$work/made" 201 67 "$@" ;;
	missing) ls "$work"/made/labd?.img | tail -n $# | xargs rm ;;
	esac >"$work/places"
	[ "$kind" != unreadable ] || { rm -rf "$work/made"; cp -r --sparse=always "$work/before" "$work/made"; }
}

# errors KERNEL NAME: of those counters
errors() {
	value "$1" "$2" | grep -o 'read_errors.*'
}

# sum KERNEL NAME: of what scrub counted
sum() {
	value "$1" counters | grep -o "$2:[0-9]*" | cut -d: -f2
}

# outcome WHAT PROFILE KIND
outcome() {
	local name
	local -a seen=(counters stats again content status)

	for name in "${seen[@]}"; do
		diag "$1, $name: $(value stock "$name") -> $(value patched "$name")"
	done
	is "$(value patched content)" "$(value stock content)" "$1: content as by stock"
	is "$(errors patched again)" "$(errors stock again)" "$1: a second scrub finds what it finds by stock"
	case $2 in
	raid5 | raid6)
		# Who checks parity of other devices repairs data, too, without counting it. A request that fails counts
		# as all its sectors, so of unreadable ones the numbers say little.
		[ "$3" = unreadable ] || in_range "$(sum patched corrected_errors)" "$(sum stock corrected_errors)" 100000 "$1: repaired, at least what stock counts"
		in_range "$(sum patched uncorrectable_errors)" 0 "$(sum stock uncorrectable_errors)" "$1: beyond repair, at most what stock counts" ;;
	*)
		alike counters "$1: counters"
		alike stats "$1: device stats" ;;
	esac
	[ "$2" = single ] || [ "$2" = raid0 ] || is "$(value patched content)" "$made" "$1: content as before"
	if [ "$3" = unreadable ]; then
		in_range "$(value patched unreadable)" 0 "$(value stock unreadable)" "$1: blocks that cannot be read yet, at most as many as by stock"
		return
	fi
	[ ! -s "$work/stock.restored" ] || is "$(comm -23 <(sort "$work/stock.restored") <(sort "$work/patched.restored") | wc -l)" 0 \
		"$1: all blocks that stock repairs"
}

# cell PROFILE COUNT KIND DEVID...
cell() {
	local profile=$1 count=$2 kind=$3 which what="$3, $1"
	local -a command=(scrub) env=(--env TWICE=yes)

	shift 3
	damage "$kind" "$@"
	case $kind in
	missing) env+=(--env DEGRADED=yes); count=$((count - $#)) ;;
	unreadable)
		command=(unreadable)
		mapfile -t -O 1 command < <(tr ' ' : <"$work/places") ;;
	esac
	# What is free is damaged, too.
	[ "$kind" = missing ] || in_range "$(wc -l <"$work/places")" 20 100000 "$what: damaged blocks"
	for which in stock patched; do
		rm -rf "$work/copy"
		cp -r --sparse=always "$work/made" "$work/copy"
		machine "${!which}" "$work/copy" hdd 1 "$count" "${env[@]}" -- "$here/guest" "${command[@]}" \
			>"$work/$which" 2>"$work/log" || { not_ok "$what: $which"; diag "$(tail -n 30 "$work/log")"; return; }
		"$here/damage.pl" restored "$work/copy" "$work/before" <"$work/places" >"$work/$which.restored"
	done
	outcome "$what" "$profile" "$kind"
}

# load LOAD PROFILE TREES COUNT: undamaged, in $work/before, with its extents and its content
load() {
	rm -rf "$work/before"
	prepare hdd 1 "$4" "$1" "$2/$3"
	cp -r --sparse=always "$work/made" "$work/before"
	machine "$stock" "$work/made" hdd 1 "$4" -- "$here/guest" extents >"$work/extents" 2>"$work/log" ||
		bail_out "no extents: $(cat "$work/log")"
	machine "$stock" "$work/made" hdd 1 "$4" --env TWICE=yes -- "$here/guest" scrub >"$work/stock" 2>"$work/log" ||
		bail_out "no content: $(cat "$work/log")"
	made=$(value stock content)
}

# cells PROFILE TREES COUNT DEVID...
cells() {
	local profile=$1 kind loaded='' wanted

	for kind in ${KINDS:-data missing unreadable trees}; do
		case $kind,$profile in
		# Trees are DUP's or RAID1's there, and without a device there is nothing to mount.
		trees,single | trees,raid0 | missing,single | missing,dup | missing,raid0) continue ;;
		esac
		wanted=$([ $kind = trees ] && echo inline:4 || echo small:20)
		[ "$wanted" = "$loaded" ] || load "$wanted" "$profile" "$2" "$3"
		loaded=$wanted
		cell "$profile" "$3" "$kind" "${@:4}"
	done
}

while read -r -u 3 profile arguments; do
	[[ " ${PROFILES:-$profile} " = *" $profile "* ]] || continue
	# shellcheck disable=SC2086
	cells "$profile" $arguments
done 3< <(profiles)
done_testing
