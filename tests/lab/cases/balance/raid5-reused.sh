#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk ssd:size=1G,seed=1 --disk ssd:size=1G,seed=2 --disk ssd:size=1G,seed=3 --disk ssd:size=1G,seed=4
#
# A new chunk can have the address of the last one that was removed. What the kernel has cached of the
# full stripes of RAID5 at this address must not get into the parity of the new ones.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# chunk N: the address of the nth chunk of data
chunk() {
	btrfs inspect-internal dump-tree -t chunk /dev/labda |
		awk -v n="$1" '/CHUNK_ITEM/ { at = $6; sub(/\)/, "", at) } /type DATA.RAID5/ && ++nr == n { print at }'
}

# place FILE: its address
place() {
	filefrag -b1 -v "$LAB_MNT/$1" | awk '/^ *0:/ { print $4 + 0 }'
}

# files NAME NUMBER: each of a sector, written by itself, for which the kernel reads the rest of the stripe and keeps it
files() {
	local n

	for n in $(seq "$2"); do
		yes "$1 $n" | head -c 4096 >"$LAB_MNT/$1$n"
		sync "$LAB_MNT/$1$n"
	done
	sync -f "$LAB_MNT"
}

try 'an array' lab_mkfs raid5/raid1 /dev/labd{a,b,c,d} || bail_out 'no array'
try 'mount' lab_mount /dev/labda max_inline=0,nodiscard || bail_out 'no mount'
first=$(chunk 1)
# fill N: the nth file that helps to fill the first chunk
fill() {
	head -c 4M /dev/zero >"$LAB_MNT/full$1"
	sync -f "$LAB_MNT"
}

n=0
while [ -z "$(chunk 2)" ] && [ $((n += 1)) -lt 200 ]; do
	fill $n
done
files old 40
second=$(chunk 2) place=$(place old1)
try 'the old files are in the second chunk' [ "$place" -ge "$second" ]
rm "$LAB_MNT"/{old*,"full$n"}
sync -f "$LAB_MNT"
try 'this is removed' btrfs balance start -dusage=0 "$LAB_MNT"
is "$(chunk 1),$(chunk 2)" "$first," 'only the first chunk is left'
try 'what is free is discarded' fstrim "$LAB_MNT"
fill $n
# In one stripe of the three, so that parity is of them and of what was discarded.
files new 10
is "$(chunk 2),$(place new1)" "$second,$place" 'the new chunk and the new files are where the old ones were'
sum=$(cat "$LAB_MNT"/new* | md5sum)
try 'unmount' umount "$LAB_MNT"

for d in a b c d; do
	lab_power "/dev/labd$d" cut
	btrfs device scan --forget
	btrfs device scan >/dev/null 2>&1
	mount -o degraded,ro "/dev/labd$([ $d = a ] && echo b || echo a)" "$LAB_MNT" || bail_out "no mount without labd$d"
	is "$(cat "$LAB_MNT"/new* | md5sum)" "$sum" "the files without labd$d"
	umount "$LAB_MNT"
	lab_power "/dev/labd$d" on
done
done_testing
