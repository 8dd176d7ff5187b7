#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 2G --timeout 3000
# lab: --disk ssd:size=2500M,seed=1 --disk ssd:size=2500M,seed=2 --disk ssd:size=2500M,seed=3
# lab: --disk hdd:size=2500M,seed=4 --disk hdd:size=2500M,seed=5 --disk hdd:size=2500M,seed=6
#
# Arrays with a random past: devices of odd sizes, profiles, roles that changed, all
# of it rather full.  Whatever comes of a balance of misplaced chunks, it says so, no
# transaction is aborted and nothing is lost.  A lack of space is no failure: some of
# these arrays leave no way.  On most of them everything has to be moved, and on few of
# them in vain.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"
seeds=24
roles=(data-preferred metadata-preferred data-only metadata-only)
profiles=(raid1 single/dup raid1 single/raid1 raid0/raid1 raid1 raid1/raid1c3 raid10/raid1 raid5/raid1)

# A number for $drawn.  Here as below no chance is taken in a subshell, where bash
# has a $RANDOM that does not come of the seed.
between() {
	drawn=$(($1 + RANDOM % ($2 - $1 + 1)))
}

chance() {	# N: one time in N
	[ $((RANDOM % $1)) = 0 ]
}

# All disks in random order, for $disks.
shuffle() {
	local disk keys=()

	for disk in $(lab_disks); do
		keys+=("$RANDOM $disk")
	done
	mapfile -t disks < <(printf '%s\n' "${keys[@]}" | sort -n | cut -d' ' -f2)
}

resize() {	# DEVID
	between 300 2200
	btrfs filesystem resize "$1:${drawn}M" "$LAB_MNT" >/dev/null
}

# Some devices get another role; what the kernel refuses stays as it is.
tag_some() {	# COUNT
	local id

	for id in $(seq "$1"); do
		chance 3 || btrfs -q device policy tag "${roles[RANDOM % 4]}" "$id" "$LAB_MNT" \
				--force 2>/dev/null
	done
	return 0
}

# Random profiles, as far as so many devices can have them, and sizes: make_array DEVICE...
make_array() {
	local last=$(($# == 2 ? 4 : $# == 3 ? 7 : 9)) id

	lab_mkfs "${profiles[RANDOM % last]}" "$@" && lab_mount "$1" || return
	for id in $(seq $#); do
		resize "$id" || return
	done
}

live() {	# DEVICES OTHER_DEVICE...
	local count=$1 disk rounds

	shift
	chance 2 || tag_some "$count"
	between 50 700
	lab_fill "$LAB_MNT/a" "$drawn" 3 2>/dev/null
	between 1 3
	rounds=$drawn
	between 100 500
	history "$rounds" "$drawn" 2>/dev/null
	for disk in "$@"; do
		chance 4 && continue
		btrfs -q device add -f "$disk" "$LAB_MNT" >/dev/null && count=$((count + 1)) && resize $count
	done
	tag_some $count
	between 20 400
	lab_fill "$LAB_MNT/b" "$drawn" 5 2>/dev/null
	! chance 3 || btrfs balance start -m "$LAB_MNT" >/dev/null 2>&1
	! chance 2 || rm -f "$LAB_MNT/a"
	sync
	tag_some $count
}

# What a run said of chunks that it moved and the kernel placed wrong again.
in_vain() {	# STATUS
	[ "$1" = 0 ] && grep -oE '[0-9]+ chunks? stays? misplaced: [1-9][0-9]* moved but misplaced again, .*' /tmp/said
}

# The lack of space that a run gave as the reason for what it left. Fails if it gave another reason or none.
lack() {	# STATUS
	[ "$1" = 4 ] && sed -n 's/^ERROR: //p' /tmp/said | grep -xE -e '.* does not fit on the devices that should hold it.*' \
		-e '.* would leave too little space for another chunk of .*' -e '.* would leave metadata [0-9]+ MiB less to grow into than .*' \
		-e '.* needs [0-9]+ devices? that may hold it and there .*' -e 'the kernel found no space to move chunk .*'
}

try_array() {	# SEED
	local disks count drawn status why

	RANDOM=$1
	shuffle
	between 2 ${#disks[@]}
	count=$drawn
	make_array "${disks[@]:0:count}" || { not_ok "$1: mkfs and mount"; return; }
	live "$count" "${disks[@]:count}"
	sums >/tmp/before
	preferred >/tmp/said 2>&1
	status=$?
	if [ $status = 0 ] && [ "$(verdict)" = 0 ]; then
		ok "$1: nothing is misplaced"
		done_all=$((done_all + 1))
	elif why=$(lack $status); then
		ok "$1: something is misplaced for lack of space"
		diag "$1: $why"
	elif why=$(in_vain $status); then
		ok "$1: something was moved in vain"
		diag "$1: $why"
		moved_in_vain=$((moved_in_vain + 1))
	else
		not_ok "$1: nothing is misplaced, or it says what space is lacking"
		diag "status $status: $(cat /tmp/said)"
	fi
	sums >/tmp/after
	is "$(diff /tmp/before /tmp/after)" '' "$1: contents are unchanged"
	try "$1: no transaction is aborted" lab_writable
	try "$1: unmount" umount "$LAB_MNT"
	try "$1: btrfs check" btrfs check --check-data-csum "${disks[0]}"
}

done_all=0 moved_in_vain=0
for seed in $(seq $seeds); do
	lab_fresh >/dev/null 2>&1
	try_array "$seed"
done
in_range $done_all 14 $seeds "arrays of $seeds on which nothing is left misplaced"
in_range $moved_in_vain 0 2 "arrays of $seeds on which chunks were moved in vain"
done_testing
