#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Full send of twelve kinds of trees by the stock and by the patched kernel: never slower,
# and the same streams. TREES are the seeds of the trees (default 1), MODELS the disks.
# Where a head is when a send begins is chance, so hard disks have several seeds (SEEDS).
. "$(dirname "$0")/lib.sh"
read -ra trees <<<"${TREES:-1}"
read -ra disks <<<"${MODELS:-hdd ssd nvme}"

# sent WHICH MODEL: times and streams of all kinds in $work/WHICH, of all seeds of the disk.
# The disk is only read.
sent() {
	local seed

	: >"$work/$1"
	for seed in "${seeds[@]}"; do
		machine "${!1}" "$work/made" "$2" "$seed" 1 -- "$here/guest" kinds >>"$work/$1" 2>"$work/log" || {
			diag "$1: $(tail -n 30 "$work/log")"
			return 1
		}
		# Flash has no head.
		[[ $2 != ssd && $2 != nvme ]] || break
	done
}

# middle WHICH KIND: the median of its times
middle() {
	median $(value "$1" "ms_$2")
}

for tree in "${trees[@]}"; do
	rm -rf "$work/made"
	machine "$stock" "$work/made" nvme 1 1 -- "$here/guest" trees "$tree" twelve >"$work/log" 2>&1 ||
		{ diag "$(tail -n 20 "$work/log")"; bail_out "cannot make trees of seed $tree"; }
	for model in "${disks[@]}"; do
		sent stock "$model" && sent patched "$model" || { not_ok "$model, seed $tree"; continue; }
		kinds=$(sed -n 's/^ms_\([a-z]*\) .*/\1/p' "$work/stock" | sort -u)
		is "$(wc -w <<<"$kinds")" 12 "$model, seed $tree: twelve kinds"
		for kind in $kinds; do
			alike "stream_$kind" "$model, seed $tree: $kind: the same stream"
			in_range "$(awk "BEGIN { printf \"%.3f\", $(middle stock "$kind") / $(middle patched "$kind") }")" 0.98 1000 \
				"$model, seed $tree: $kind: times faster, $(middle stock "$kind") to $(middle patched "$kind") ms"
		done
	done
done
done_testing
