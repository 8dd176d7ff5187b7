# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The power of all disks is cut at each write of a move of a stripe: afterwards it is in the old place or in the new one,
# and contents, checksums and trees are right. Sourced in the lab, behind lib.sh of this folder.

labdisk=/sys/module/labdisk/parameters

all_disks() {
	local d

	for d in $(lab_disks); do
		lab_power "$d" "$1"
	done
}

# The address of something that is in a chunk of the kind: address KIND
address() {
	case $1 in
	DATA) filefrag -v -b4096 "$LAB_MNT/f" | awk '$1 == "0:" { print int($4) * 4096 }' ;;
	METADATA) btrfs inspect-internal dump-tree -t 5 /dev/labda | awk '$1 == "leaf" { print $2; exit }' ;;
	SYSTEM) btrfs inspect-internal dump-tree -t chunk /dev/labda | awk '$1 == "leaf" { print $2; exit }' ;;
	esac
}

# choose KIND: a stripe of the chunk where its content is, and a device without one; sets chunk, stripe, from, target
choose() {
	sync
	read -r chunk stripe from <<<"$(stripes /dev/labda "$1" | awk -v address="$(address "$1")" '
		$1 <= address { out = $1 " " $2 " " $3 } END { print out }')"
	target=$(vacant /dev/labda "$chunk" "$(lab_disks | wc -l)" | head -n 1)
}

# cut_at WRITE HOW: 1 if the move ended before; sets now, where the stripe is
cut_at() {
	local left

	echo "$1" >$labdisk/writes_left
	"$move" start "$chunk:$stripe:$target" >/tmp/moved 2>&1
	left=$(cat $labdisk/writes_left)
	echo 0 >$labdisk/writes_left
	[ "$left" = 0 ] || return
	all_disks "$2"
	umount "$LAB_MNT"
	echo 0 >$labdisk/dark
	all_disks on
	btrfs check --check-data-csum /dev/labda >/tmp/check 2>&1 || not_ok "cut $1, $2: check: $(tail -n 5 /tmp/check)"
	lab_mount /dev/labda || bail_out "cut $1: cannot be mounted any more"
	now=$(at /dev/labda "$chunk" "$stripe")
}

# cut_each KIND HOW...: with the next HOW at each further write, `cut random` with another seed each. Ends early if no
# device is vacant: a new system chunk of a striped profile takes all of them. Adds to old_places and new_places.
cut_each() {
	local n how old=0 new=0 wrong=''

	for ((n = 1; n < 1000; n++)); do
		choose "$1"
		[ "$1" != SYSTEM ] || [ -n "$target" ] || { all_taken=yes; break; }
		how=${*:2 + (n - 1) % ($# - 1):1}
		cut_at $n "${how/random/random $n}" || break
		case $now in
		"$from") old=$((old + 1)) ;;
		"$target") new=$((new + 1)) ;;
		*) wrong+="cut $n: on device '$now'; " ;;
		esac
		[ "$(lab_sum "$LAB_MNT/f" "$LAB_MNT"/small/*)" = "$sum" ] || wrong+="cut $n: contents; "
	done
	is "$wrong" '' "$*: right after a cut at each of $((n - 1)) writes, $old in the old place, $new in the new one"
	old_places=$((old_places + old)) new_places=$((new_places + new))
}

# Cuts came before commits and after them.
end_kind() {
	in_range $old_places 1 1000 "$1: cuts that left the old place"
	if [ -n "$all_taken" ]; then
		ok "$1: then no device was vacant, after $new_places cuts that left the new one"
	else
		in_range $new_places 1 1000 "$1: cuts that left the new one"
	fi
}

# prepare_cuts PROFILE DEVICE...: the other disks are added
prepare_cuts() {
	local disk

	try mkfs lab_mkfs "$1" "${@:2}" || bail_out mkfs
	try mount lab_mount /dev/labda || bail_out mount
	for disk in $(lab_disks); do
		[[ " ${*:2} " == *" $disk "* ]] || try "add $disk" btrfs -q device add -f "$disk" "$LAB_MNT"
	done
	lab_fill "$LAB_MNT/f" 2
	lab_small_files "$LAB_MNT/small" 100 1500 >/dev/null
	sync
	old_places=0 new_places=0 all_taken=''
	sum=$(lab_sum "$LAB_MNT/f" "$LAB_MNT"/small/*)
}

# The last state is whole.
end_cuts() {
	# After a power cut only the first copies of superblocks are sure to be there.
	: >"$LAB_MNT/again"
	sync
	try scrub lab_scrub
	try unmount umount "$LAB_MNT"
	try 'btrfs check' btrfs check --check-data-csum /dev/labda
	# Or the next one, with the same UUID on one device, would be taken for a copy of it and get a temporary fsid.
	btrfs device scan --forget
}
