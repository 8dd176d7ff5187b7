#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What commands cost on 30 devices and 100,000 chunks, beside 1,000 chunks: counted
# in calls to the kernel and items of trees, and in memory.  Time is for tests/bench.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

most_kib=$((32 * 1024))
grep -q '^SANITIZERS_TRUE = *$' "$top_builddir/Makefile" && most_kib=$((1024 * 1024))

# cost MACHINE COMMAND...: sets calls, items, kib
cost() {
	FAKE=$1 FAKE_COST=$T/cost btrfs "${@:2}" >"$T/out" 2>"$T/err" || { cat "$T/err"; return 1; }
	read -r calls items kib <"$T/cost"
	echo "$*: $calls calls, $items items, $kib KiB"
}

# Those that have nothing to do with chunks do not look at them.
constant() {	# COMMAND...
	cost smaller "$@" || return 1
	local calls_before=$calls items_before=$items
	cost large "$@" && [ "$calls" = "$calls_before" ] && [ "$items" = "$items_before" ] &&
		[ "$kib" -le $most_kib ]
}

# 100 times as many chunks are 100 times as many items, read in pieces.
linear() {	# COMMAND...
	cost smaller "$@" || return 1
	local calls_before=$calls items_before=$items
	cost large "$@" && [ "$items" -gt 200000 ] && [ "$items" -le $((items_before * 100)) ] &&
		[ $((calls - calls_before)) -lt 1000 ] && [ "$kib" -le $most_kib ]
}

show() { constant device policy show && constant --format json device policy show -T; }
others() {
	constant device policy list && constant device policy get role &&
	constant --dry-run device policy set roundrobin && constant device policy save
}
usage() { linear device policy usage -T && linear --format json device policy usage; }
plan() {
	linear --dry-run balance --preferred-metadata && linear device policy suggest &&
	linear --format json --dry-run balance --preferred-metadata --assume metadata-only=5,6 &&
	[ "$(grep -c '"logical"' "$T/out")" -gt 10000 ]
}

check "show asks for no chunk, in 32 MiB" show
check "nor do list, get, set and save" others
check "usage reads each chunk once, in 32 MiB" usage
check "so do the plan of a balance and suggest" plan
done_testing
