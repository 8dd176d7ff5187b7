#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=512M,seed=1 --disk ssd:size=512M,seed=2
# lab: --disk hdd:size=512M,seed=3 --disk hdd:size=512M,seed=4
#
# Data has to leave the hard disks, and the SSDs are full: nothing moves, and the command
# says what is missing.  The same if they fill up while it runs; with more space the
# balance goes on.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"

# To the last extent; then there is space for metadata still.
fill_up() {
	dd if=/dev/zero of="$LAB_MNT/.full" bs=1M status=none 2>/tmp/said
	sync
	grep -q 'No space left' /tmp/said
}

chunks() {
	usage '[.profiles[] | .chunks, .size, .used]' | tr -d ' \n'
}

# Sets `end`, `moved` and `said` of a run that must not succeed.
refused() {
	local out status=0

	out=$(btrfs --format json balance --preferred-metadata "$LAB_MNT" 2>/tmp/errors) || status=$?
	is $status 4 "$1: the status for no space"
	end=$(jq -r '.[keys[1]].report.end' <<<"$out")
	moved=$(jq '.[keys[1]].report["relocated-chunks"]' <<<"$out")
	said=$(cat /tmp/errors)
	is "$end" no-space "$1: for lack of space"
	grep -qE 'lacks [0-9]+ MiB|leave too little space|less to grow into' <<<"$said" && ok "$1: the reason" ||
		not_ok "$1: the reason: $said"
}

old_disks_new_ssds 2 100
roles '3 4' '1 2'
try 'the SSDs are filled' fill_up
before=$(chunks)
refused 'full before'
is "$moved" 0 'nothing is moved'
is "$(chunks)" "$before" 'every chunk is as it was'

rm "$LAB_MNT/.full"
sync
try 'one chunk' preferred --limit 1
try 'then the SSDs are filled again' fill_up
refused 'full on the way'
rm "$LAB_MNT/.full"
sync
try 'with space it goes on' preferred
is "$(verdict)" 0 'usage -c is content'
nothing_lost /dev/labdc
done_testing
