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
cancelled() {	# MS [SPEED]
	local after=$1 what="cancelled after $1 ms${2:+ at $2}" which

	both hdd 1 2 --env AFTER="$after" --env SPEED="$2" -- "$here/guest" cancel || { not_ok "$what"; return; }
	diag "$what: ended after $(value stock ended) and $(value patched ended) ms"
	for which in stock patched; do
		is "$(value $which end)" 'cancelled finished finished' "$which: $what, resumed, again"
		in_range "$(value $which first)" 1 393 "$which: some was done"
		is "$(value $which first)" "$(value $which damage_before)" "$which: repaired what is before last_physical"
		is $(($(value $which first) + $(value $which second))) 394 "$which: the rest by the second scrub"
		is "$(value $which third)" 0 "$which: nothing left to a third"
	done
	in_range $(($(value patched ended) - after)) 0 150 "$what: time until it ended"
}

# percent NAME: patched, of stock
percent() {
	awk "BEGIN { printf \"%.1f\", 100 * $(value patched "$1") / $(value stock "$1") }"
}

# The limit of speed is kept to, whatever the disk: 100 MiB take what they should.
limited() {	# MODEL MIB_A_SECOND
	local what="scrub of 100 MiB at $2 MiB/s, $1"

	both "$1" 1 1 --env DEVICES=1 -- "$here/guest" limits "$2m" || { not_ok "$what"; return; }
	diag "$what: stock/patched ms $(value stock ms)/$(value patched ms)"
	in_range "$(awk "BEGIN { print $(value patched ms) * $2 / 1000 }")" 95 103 \
		"$what: percent of the time this stands for"
}

# A limit of 40 MiB/s, and someone who reads all the time is not worse off.
beside_reader() {
	both hdd 1 1 -- "$here/guest" limited 40m mq-deadline || { not_ok 'limited scrub'; return; }
	diag "stock/patched: ms $(value stock ms)/$(value patched ms), reads a second $(value stock reader_iops)/$(value patched reader_iops)"
	in_range "$(percent reader_iops)" 95 200 'limited scrub: reads a second beside it, in percent'
	in_range "$(percent reader_p99)" 1 110 'limited scrub: 99th percentile of their time, in percent'
}

# Reads that come at their time, not when the one before is done, beside a limited scrub:
# they wait for a burst of it at most, not for what a slice of time lets through.
scheduled() {	# MODEL SEED SCHEDULER READS_A_SECOND SPEED MOST_MS
	local what="scrub at $5 on $1 $2, $3, $4 reads a second"

	prepare "$1" "$2" 1 big:100 single/single
	both "$1" "$2" 1 -- "$here/guest" limited "$5" "$3" --rate_iops="$4" --ioengine=libaio --iodepth=256 --runtime=2 ||
		{ not_ok "$what"; return; }
	diag "$what: stock/patched ms $(value stock ms)/$(value patched ms), p99 $(value stock reader_p99)/$(value patched reader_p99) ms"
	in_range "$(value patched reader_p99)" 0.01 "$6" "$what: 99th percentile of their time, ms"
}

# Without a limit, on a drive that prefers what is near: others wait no longer than they
# do beside scrub of the stock kernel.
unlimited() {	# MODEL SEED SCHEDULER FIO...
	local what="unlimited scrub on $1 $2, $3, ${*:4}"

	prepare "$1" "$2" 1 big:200 single/single
	both "$1" "$2" 1 -- "$here/guest" limited 0 "$3" --ioengine=libaio "${@:4}" || { not_ok "$what"; return; }
	diag "$what: stock/patched ms $(value stock ms)/$(value patched ms), p99 $(value stock reader_p99)/$(value patched reader_p99) ms"
	in_range "$(percent reader_p99)" 1 130 "$what: 99th percentile of their time, in percent"
	in_range "$(percent reader_iops)" 85 1000 "$what: reads a second, in percent"
}

# Reads of another partition of the disk are not slower beside a scrub than on the stock kernel.
outside() {	# FIO...
	local what="reads of another partition, $*"

	rm -rf "$work/made"
	mkdir "$work/made"
	both hdd 1 1 -- "$here/guest" outside "$@" || { not_ok "$what"; return; }
	diag "$what: average and longest ms alone $(value patched alone), stock $(value stock beside), patched $(value patched beside);" \
		"scrub ms $(value stock ms)/$(value patched ms)"
	in_range "$(value patched beside | cut -d' ' -f1)" 0.1 "$(value stock beside | cut -d' ' -f1)" "$what: average, not longer than by stock"
	in_range "$(value patched beside | cut -d' ' -f2)" 0.1 "$(value stock beside | cut -d' ' -f2)" "$what: longest, not longer than by stock"
	in_range "$(percent ms)" 1 125 "$what: scrub takes at most a quarter longer"
}

# Mirrors damaged, and scrubs of one of them that are cancelled.
cancels() {
	prepare hdd 1 2 big:100 raid1/raid1
	machine "$stock" "$work/made" hdd 1 2 -- "$here/guest" damage >"$work/log" 2>&1 ||
		{ not_ok "damage for cancel"; diag "$(cat "$work/log")"; return; }
	cancelled 50
	cancelled 150
	cancelled 300
	cancelled 1100 40m
}

# At their limits, the device by itself.
limits() {
	local model mib

	for model in hdd slow ssd nvme; do
		prepare $model 1 1 big:100 single/single
		for mib in 10 40 90; do
			limited $model $mib
		done
	done
	limited nvme 1000
}

# but_trees KERNEL: counters, without how many tree blocks there were when scrub came by.
but_trees() {
	value "$1" counters | sed 's/tree_[a-z]*_scrubbed:[0-9]*,//g'
}

# Each commit pauses scrub, and writes trees.
paused() {
	prepare hdd 1 1 big:50 single/single
	both hdd 1 1 --env COMMITS=yes -- "$here/guest" scrub || { not_ok 'scrub beside commits'; return; }
	is "$(but_trees patched)" "$(but_trees stock)" 'beside commits: counters'
	alike status 'beside commits: status'
	in_range "$(value patched commits)" 5 1000 'beside commits: there were some'
	in_range "$(awk "BEGIN { print 100 * $(value patched commits) * $(value stock ms) / $(value stock commits) / $(value patched ms) }")" \
		95 1000 'beside commits: commits a second, in percent of stock'
	# Before it pauses for a commit all that is in flight ends: what the commit frees may be discarded.
	in_range "$(percent ms)" 1 175 'beside commits: time in percent of stock'
}

# A commit waits for a limited scrub as long as that sleeps.
commits_beside() {	# MODEL
	both "$1" 1 1 --env COMMITS=yes --env SPEED=10m -- "$here/guest" scrub || { not_ok "commits beside scrub, $1"; return; }
	diag "commits beside scrub at 10 MiB/s, $1: ms stock/patched $(value stock longest_commit)/$(value patched longest_commit)"
	in_range "$(value patched longest_commit)" 1 200 "commits beside scrub at 10 MiB/s, $1: ms of the longest"
	in_range "$(percent longest_commit)" 0.1 50 "commits beside scrub at 10 MiB/s, $1: in percent of stock"
}

repairs raid1 2
repairs raid10 4
cancels
limits
prepare hdd 1 1 big:50 single/single
beside_reader
paused
commits_beside hdd
prepare ssd 1 1 big:50 single/single
commits_beside ssd
scheduled ssd 1 none 3000 100m 0.8
scheduled few 3 none 500 100m 0.8
scheduled nvme 1 none 3000 100m 0.3
outside --thinktime=20ms
outside --ioengine=libaio --rate_iops=50 --iodepth=32
for seed in "${seeds[@]}"; do
	scheduled hdd "$seed" none 50 40m 60
	unlimited hdd "$seed" none --rate_iops=50 --iodepth=32
	unlimited slow "$seed" none --rate_iops=20 --iodepth=32
	unlimited hdd "$seed" none --iodepth=1
	unlimited hdd "$seed" mq-deadline --rate_iops=50 --iodepth=32
done
compare 'tiny files, hdd' 2.5 hdd 1 tiny:60 single/single -- scrub counters status
# Trees of a third of the size: the drive's own readahead helps the stock kernel, too.
for model in hdd slow; do
	compare "few tiny files, $model" 1 $model 1 tiny:25 single/single -- scrub counters status
done
compare 'few tiny files, no drive readahead' 1.8 plain 1 tiny:25 single/single -- scrub counters status
compare 'few tiny files, ssd' 1 ssd 1 tiny:25 single/single -- scrub counters status
compare 'few tiny files, nvme' 1 nvme 1 tiny:25 single/single -- scrub counters status
compare 'large files, hdd' 1 hdd 1 big:100 single/single -- scrub counters status
compare 'large files, nvme' 1 nvme 1 big:200 single/single -- scrub counters status
# The bus of this drive carries 3.2 GB a second.
in_range "$(awk "BEGIN { print 200 * 1048576 / $(value patched ms) / 3200000 }")" 0.9 1 'large files, nvme: share of the bus'
done_testing
