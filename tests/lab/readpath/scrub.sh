#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Scrub by the stock and by the patched kernel: the same counters, the same errors
# found and repaired, cancel and the speed limit, and how long it takes.
. "$(dirname "$0")/lib.sh"

# repairs PROFILE DISKS: rubbish on one mirror, trees included; both kernels find and
# repair the same.
repairs() {
	local name
	local -a seen=(counters again content status)

	prepare hdd 1 "$2" small:20 "$1/$1"
	machine "$stock" "$work/made" hdd 1 "$2" -- "$here/guest" damage 12 >"$work/log" 2>&1 ||
		{ not_ok "damage $1"; diag "$(cat "$work/log")"; return; }
	both hdd 1 "$2" --env TWICE=yes -- "$here/guest" scrub || { not_ok "scrub damaged $1"; return; }
	for name in "${seen[@]}"; do
		alike "$name" "damaged $1: $name of stock and patched"
	done
	in_range "$(value patched counters | grep -o 'corrected_errors:[0-9]*' | cut -d: -f2)" 20 100000 \
		"damaged $1: blocks repaired"
	is "$(value patched again | grep -o 'csum_errors:[0-9]*')" csum_errors:0 "damaged $1: a second scrub finds nothing"
}

# Cancelled after so many milliseconds: what was done is what is said to be done, and
# the rest is done from there.
cancelled() {
	local after which

	prepare hdd 1 2 big:100 raid1/raid1
	machine "$stock" "$work/made" hdd 1 2 -- "$here/guest" damage >"$work/log" 2>&1 ||
		{ not_ok "damage for cancel"; diag "$(cat "$work/log")"; return; }
	for after; do
		both hdd 1 2 --env AFTER="$after" -- "$here/guest" cancel || { not_ok "cancel after $after ms"; return; }
		for which in stock patched; do
			is "$(value $which end)" 'cancelled finished finished' "$which: cancelled after $after ms, resumed, again"
			in_range "$(value $which first)" 1 393 "$which: some was done"
			is "$(value $which first)" "$(value $which damage_before)" "$which: repaired what is before last_physical"
			is $(($(value $which first) + $(value $which second))) 394 "$which: the rest by the second scrub"
			is "$(value $which third)" 0 "$which: nothing left to a third"
		done
	done
}

# percent NAME: patched, of stock
percent() {
	awk "BEGIN { printf \"%.1f\", 100 * $(value patched "$1") / $(value stock "$1") }"
}

# A limit of 40 MiB/s, and someone who reads: the limit holds, the reader is not worse off.
limited() {
	prepare hdd 1 1 big:50 single/single
	both hdd 1 1 -- "$here/guest" limited 40m mq-deadline || { not_ok 'limited scrub'; return; }
	diag "stock/patched: ms $(value stock ms)/$(value patched ms), reads a second $(value stock reader_iops)/$(value patched reader_iops)"
	in_range "$(percent ms)" 96 110 'limited scrub: time in percent of stock'
	in_range "$(percent reader_iops)" 98 200 'limited scrub: reads a second beside it, in percent'
	in_range "$(percent reader_p99)" 0 105 'limited scrub: 99th percentile of their time, in percent'
}

# Reads that come at their time, not when the one before is done, beside a limited
# scrub of flash, which the stock mq-deadline holds up for many of them.
scheduled() {	# SCHEDULER READS_A_SECOND
	local what="scrub limited on ssd, $1, $2 reads a second"

	both ssd 1 1 -- "$here/guest" limited 100m "$1" --rate_iops="$2" --ioengine=libaio --iodepth=256 ||
		{ not_ok "$what"; return; }
	diag "stock/patched: ms $(value stock ms)/$(value patched ms), p99 $(value stock reader_p99)/$(value patched reader_p99) ms"
	in_range "$(percent ms)" 40 105 "$what: time in percent of stock"
	in_range "$(percent reader_p99)" 0 105 "$what: 99th percentile of their time, in percent"
}

# Each commit pauses scrub.
paused() {
	prepare hdd 1 1 big:50 single/single
	both hdd 1 1 --env COMMITS=yes -- "$here/guest" scrub || { not_ok 'scrub beside commits'; return; }
	alike counters 'beside commits: counters'
	alike status 'beside commits: status'
	in_range "$(value patched commits)" 5 1000 'beside commits: there were some'
	in_range "$(percent ms)" 0 105 'beside commits: time in percent of stock'
}

repairs raid1 2
repairs raid10 4
cancelled 50 150 300
limited
prepare ssd 1 1 big:120 single/single
scheduled mq-deadline 500
scheduled none 3000
paused
compare 'tiny files, hdd' 2.5 hdd 1 tiny:60 single/single -- scrub counters status
# Trees of a third of the size: the drive's own readahead helps the stock kernel, too.
for model in hdd slow; do
	compare "few tiny files, $model" 1 $model 1 tiny:25 single/single -- scrub counters status
done
compare 'few tiny files, no drive readahead' 1.8 plain 1 tiny:25 single/single -- scrub counters status
compare 'few tiny files, ssd' 1 ssd 1 tiny:25 single/single -- scrub counters status
compare 'few tiny files, nvme' 1 nvme 1 tiny:25 single/single -- scrub counters status
compare 'large files, hdd' 1 hdd 1 big:100 single/single -- scrub counters status
done_testing
