# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Two balances of one image, and what each writes: what is misplaced moved by
# `balance --preferred-metadata`, all metadata by `balance start -m`.  The disks
# labda to labdd are the file system's, labde to labdh have 4 MiB more each and keep
# the image.  Source it behind balance.sh.

# The file system's disks to the other four, 1 MiB into them, so that nobody takes
# them for parts of it; and back.
save() {
	local i

	for i in a-e b-f c-g d-h; do
		dd if=/dev/labd${i%-*} of=/dev/labd${i#*-} bs=1M seek=1 conv=sparse status=none || return
	done
}

load() {
	local i

	for i in a-e b-f c-g d-h; do
		dd if=/dev/labd${i#*-} of=/dev/labd${i%-*} bs=1M skip=1 status=none \
			count=$(($(blockdev --getsize64 /dev/labd${i%-*}) >> 20)) || return
	done
}

show() {
	usage '.profiles[] | "\(.kind) \(.profile) chunks \(.chunks) used \(.used) misplaced \(.["misplaced-used"])"' |
		sed 's/^/# /'
	usage '.devices[] | "\(.path) \(.size - .unallocated) of \(.size) allocated"' | sed 's/^/# /'
}

planned() {
	jq ".$1" /tmp/plan
}

# Seconds so far and left, as it said when half of the bytes were done: whole ones.
expected_in_the_middle() {
	jq -s 'map(select(.["bytes-done"] * 2 >= .["bytes-total"]))[0] |
		.["elapsed-seconds"] + .["eta-seconds"]' /tmp/progress
}

# What the plan said of time and slack is so; sets `seconds`.
check_promises() {	# REPORT
	seconds=$(jq '.["elapsed-milliseconds"] / 1000' <<<"$1")
	in_range "$seconds" "$(planned '["least-seconds"]')" "$(planned '["most-seconds"]')" \
		'seconds, as the plan says'
	in_range "$(planned '["metadata-slack-after"]')" "$(planned '["metadata-slack-floor"]')" 1e18 \
		"bytes of metadata slack in the end, where $(planned '["metadata-slack"]') were"
}

# Moves what is misplaced; sets `ours`, bytes written.
move_misplaced() {
	local report moved

	btrfs --dry-run --format json balance --preferred-metadata "$LAB_MNT" |
		jq '.[keys[1]].plan' >/tmp/plan
	lab_reset
	report=$(btrfs --format json balance --preferred-metadata --progress json "$LAB_MNT" \
		2>/tmp/progress) && ok 'balance --preferred-metadata' ||
		not_ok "balance --preferred-metadata: $(tail -n 1 /tmp/progress)"
	sync
	ours=$(written)
	report=$(jq '.[keys[1]].report' <<<"$report")
	moved=$(jq '.["relocated-used"]' <<<"$report")
	in_range "$moved" 1 $((misplaced * 105 / 100)) "bytes relocated, of $misplaced misplaced ones"
	check_promises "$report"
	is "$(verdict)" 0 'usage -c is content'
	sums >/tmp/after
	is "$(diff /tmp/before /tmp/after)" '' 'contents are unchanged'
	umount "$LAB_MNT"
	try 'btrfs check' btrfs check --check-data-csum /dev/labda
}

# Moves all metadata; sets `theirs`, bytes written, and `left`, of metadata still misplaced.
move_metadata() {
	local status=0

	lab_reset
	btrfs balance start -m "$LAB_MNT" >/tmp/said 2>&1 || status=$?
	sync
	theirs=$(written)
	left=$(usage '[.profiles[] | select(.kind == "Metadata") | .["misplaced-used"]] | add')
	show
	umount "$LAB_MNT"
	diag "balance start -m ends with status $status and leaves $(mebibytes "$left") MiB of metadata misplaced"
}

# Both balances of the image that function $1 makes.
compare() {
	lab_fresh
	try "$1" "$1" || bail_out "$1"
	sums >/tmp/before
	umount "$LAB_MNT"
	try 'the image is kept' save
	lab_mount /dev/labda
	misplaced=$(usage '.totals["misplaced-used"]')
	show
	move_misplaced
	try 'the image is there again' load
	lab_mount /dev/labda || bail_out 'mount of the copy'
	is "$(usage '.totals["misplaced-used"]')" "$misplaced" 'and as much is misplaced as before'
	move_metadata
	diag "$1: $(mebibytes "$misplaced") MiB misplaced; written: $(mebibytes "$ours") MiB by balance --preferred-metadata, $(mebibytes "$theirs") MiB by balance start -m"
}
