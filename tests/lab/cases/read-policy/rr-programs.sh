#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3
# lab track: --disk track:size=2G,seed=1 --disk track:size=2G,seed=2 --disk track:size=2G,seed=3
# machines: hdd track
#
# Programs as people run them, each on a file system that was just mounted: tar of a source tree, rsync of two trees at once,
# a reader with little readahead, a stream of a fragmented file, readers beside a writer that syncs. Under roundrobin none
# takes longer than under pid.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

source_tree=$(realpath "$(dirname "$0")/../../../..")
if [ "$1" = track ]; then
	disks=(/dev/labdd /dev/labde /dev/labdf)
else
	disks=(/dev/labda /dev/labdb /dev/labdc)
fi

# tree NAME: four copies of the sources, 9 MB each
tree() {
	local n

	for n in 1 2 3 4; do
		mkdir -p "$LAB_MNT/$1/$n"
		tar -C "$source_tree" --exclude=./build --exclude=./.git -cf - . | tar -C "$LAB_MNT/$1/$n" -xmf -
	done
}

fill() {
	local name

	for name in one one.copy two two.copy; do
		tree $name
	done
	for name in stream1 stream2 stream3; do
		lab_fill "$LAB_MNT/$name" 96 "${name#stream}"
	done
	lab_fill "$LAB_MNT/fragmented" 64
	lab_fio --name=f --filename="$LAB_MNT/fragmented" --rw=randwrite --bs=64k --direct=1 --size=64M --output=/dev/null
}

make_archive() {
	tar -C "$LAB_MNT" -cf - one | cat >/dev/null
}

compare_trees() {
	rsync -rcn "$LAB_MNT/one/" "$LAB_MNT/one.copy/" &
	rsync -rcn "$LAB_MNT/two/" "$LAB_MNT/two.copy/" &
	wait
}

small_readahead() {
	lab_readahead 128
	cat "$LAB_MNT/stream1" >/dev/null
}

fragmented() {
	cat "$LAB_MNT/fragmented" >/dev/null
}

# Three readers, and what a writer syncs meanwhile has to be done, too.
beside_writer() {
	local n

	for n in 1 2 3; do
		cat "$LAB_MNT/stream$n" >/dev/null &
	done
	for n in $(seq 40); do
		head -c 4096 "$LAB_LIB" | dd of="$LAB_MNT/log" oflag=append conv=notrunc,fsync status=none
	done
	wait
}

# under POLICY WORK: milliseconds, of a process id that is another each time
under() {
	lab_mount "${disks[0]}" noatime && btrfs -q device policy set "$1" "$LAB_MNT" || bail_out 'no file system'
	(:)
	lab_time "$2"
	umount "$LAB_MNT"
}

lab_fresh && lab_mkfs raid1c3 "${disks[@]}" && lab_mount "${disks[0]}" noatime && fill && umount "$LAB_MNT" ||
	bail_out 'no file system'
for work in make_archive compare_trees small_readahead fragmented beside_writer; do
	pid=$(lab_average under pid $work) ours=$(lab_average under roundrobin $work)
	in_range "$(awk "BEGIN { print $pid / $ours }")" 0.97 10 "$1: $work, over pid ($pid and $ours ms)"
done
done_testing
