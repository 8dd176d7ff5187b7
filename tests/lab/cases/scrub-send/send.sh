#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Send by the stock and by the patched kernel: the same stream, no more left in the
# page cache, bounded memory, and how long it takes.
. "$(dirname "$0")/lib.sh"

# What the patched kernel may take more than the stock one, in KiB for a machine of
# that much memory: two batches of data, each 1/32 of it, two of inodes, a window of
# leaves of 8 or 16 MiB.
more_memory() {
	case $1 in
	256M) echo $((32 << 10)) ;;
	*) echo $((112 << 10)) ;;
	esac
}

# faster NAME LEAST MODEL LOAD [ROUNDS]
faster() {
	compare "$1" "$2" "$3" 1 "$4" single/single ${5:+"$5"} -- "${what:-send}" stream cache_kib
	diag "$1: memory in KiB, stock $(value stock memory_kib), patched $(value patched memory_kib)"
	# What KASAN keeps around and after each object is memory, too.
	[[ $patched != *-debug/linux ]] || return 0
	in_range $(($(value patched memory_kib) - $(value stock memory_kib))) -1000000 \
		"$(more_memory "$memory")" "$1: more memory than stock, KiB"
}

# aged NAME LEAST MODEL LOAD ROUNDS: extents that several snapshots have, or many leaves. The
# same leaves are read, or some more; each of them stays cached.
aged() {
	compare "$1" "$2" "$3" 1 "$4" single/single "$5" -- send stream
	in_range $(($(value patched cache_kib) - $(value stock cache_kib))) -1024 1024 "$1: more page cache left, KiB"
}

# Files of all kinds, sent in every way.
prepare hdd 1 1 mixed:8 single/single
if both hdd 1 1 -- "$here/guest" streams; then
	for name in {stream,cache,kept}{1,2,3}; do
		alike "$name" "files of all kinds: $name"
	done
	in_range "$(value patched kept1)" 1 100000000 'files of all kinds: what a user has read stays in memory'
else
	not_ok 'files of all kinds'
fi

# The stock kernel reads this at a third of the platters' rate out of the 16 segments
# of the drive.  All that has to be read, in one sweep with every gap it has, would be 3.7
# times as fast; Documentation/internals/read-path.md has the figures.
faster 'tiny files, hdd' 2.3 hdd tiny:60
memory=256M
# Batches are smaller, and the gaps between leaves are not read.
faster 'tiny files, hdd, little memory' 1.75 hdd tiny:60
memory=1G
# More than a window of leaves, in clusters; the way to each is a seek.
aged 'more tiny files, hdd' 2.2 hdd tiny:200 0
# Rewritten between snapshots; and then once more after the one that is sent.
aged 'tiny files, rewritten, hdd' 2.6 hdd tiny:60 2
aged 'tiny files, rewritten, 5400 rpm' 2.2 slow tiny:60 2
# 2.46 to 2.93, by chance of the head: as many seeds as make the median steady.
three=("${seeds[@]}") seeds=({1..8})
aged 'tiny files, rewritten before and after, hdd' 2.6 hdd tiny:60 2+
seeds=("${three[@]}")
aged 'small files, rewritten before and after, hdd' 3 hdd small:60 3+
for model in ssd nvme; do
	aged "tiny files, rewritten, $model" 0.98 $model tiny:25 2
done
faster 'tiny files, one readahead segment in the drive' 3 one tiny:60
faster 'tiny files, no drive readahead' 3 plain tiny:25
faster 'small files, hdd' 3 hdd small:60
faster 'small files, no drive readahead' 3 plain small:60
faster 'small files, one readahead segment in the drive' 3 one small:60
faster 'inline files, rewritten, hdd' 1.4 hdd inline:30 2
# Four writers at the same time, snapshots in between, a third of the files rewritten at random.
for model in hdd slow one plain; do
	faster "inline files of four writers, $model" 1.4 $model four:40 3
done
for model in ssd nvme; do
	faster "inline files of four writers, $model" 0.98 $model four:40 3
done
what=increment
faster 'what has changed, hdd' 0.98 hdd four:20 2
what=send
for model in ssd nvme; do
	faster "tiny files, $model" 0.98 $model tiny:25
	faster "small files, $model" 0.98 $model small:60
	faster "inline files, rewritten, $model" 0.98 $model inline:20 2
	faster "large files, $model" 0.98 $model big:100
done
faster 'large files, hdd' 0.98 hdd big:100
done_testing
