#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Send by the stock and by the patched kernel: the same stream, no more left in the
# page cache, bounded memory, and how long it takes.
. "$(dirname "$0")/lib.sh"

# faster NAME LEAST MODEL LOAD [ROUNDS]
faster() {
	compare "$1" "$2" "$3" 1 "$4" single/single ${5:+"$5"} -- send stream cache_kib
	diag "$1: memory in KiB, stock $(value stock memory_kib), patched $(value patched memory_kib)"
	in_range "$(value patched memory_kib)" 0 $((64 << 10)) "$1: memory it takes, KiB"
}

# Files of all kinds, sent in every way.
prepare hdd 1 1 mixed:8 single/single
if both hdd 1 1 -- "$here/guest" streams; then
	for name in stream1 cache1 stream2 cache2 stream3 cache3; do
		alike "$name" "files of all kinds: $name"
	done
else
	not_ok 'files of all kinds'
fi

faster 'tiny files, hdd' 1.7 hdd tiny:60
faster 'tiny files, one readahead segment in the drive' 3 one tiny:60
faster 'tiny files, no drive readahead' 3 plain tiny:25
faster 'small files, hdd' 3 hdd small:60
faster 'small files, no drive readahead' 3 plain small:60
faster 'small files, one readahead segment in the drive' 3 one small:60
faster 'inline files, rewritten, hdd' 1.4 hdd inline:30 2
for model in ssd nvme; do
	faster "tiny files, $model" 0.98 $model tiny:25
	faster "small files, $model" 0.98 $model small:60
	faster "inline files, rewritten, $model" 0.98 $model inline:20 2
	faster "large files, $model" 0.98 $model big:100
done
faster 'large files, hdd' 0.98 hdd big:100
done_testing
