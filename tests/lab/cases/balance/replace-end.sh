#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=1G,seed=1 --disk hdd:size=1G,seed=2 --disk hdd:size=1G,seed=3
# lab: --disk hdd:size=1G,seed=4 --disk hdd:size=1G,seed=5
# machines: reads writes
#
# A replace ends while bios look up checksums that are not in memory: reads, or writes of a part of a
# stripe of RAID5. The end waits for these bios, so they must not wait for the end.
# Tree blocks are small and checksums large, so that many blocks have to be read.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# load MODE SIZE: until it is killed
load() {
	exec fio --name=load --filename="$LAB_MNT/file" --rw="$1" --bs="$2" --direct=1 --numjobs=64 --thread \
		--norandommap --time_based --runtime=1000 --clocksource=clock_gettime >/dev/null
}

# ends PID: within 100 seconds
ends() {
	for _ in $(seq 1000); do
		[ -e "/proc/$1" ] || return 0
		sleep 0.1
	done
	return 1
}

if [ "$1" = reads ]; then
	profile=single/single
	used=(/dev/labda)
	work=(randread 480k)
else
	profile=raid5/raid1
	used=(/dev/labd{a,b,c})
	work=(randwrite 16k)
fi
from=/dev/labdd
to=/dev/labde

try mkfs lab_mkfs $profile --nodesize 4096 --csum sha256 "${used[@]}" || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'space for a file' fallocate -l 400M "$LAB_MNT/file"
# Every other 64 KiB, if writes are to follow that keep the place.
try 'a file' fio --name=fill --filename="$LAB_MNT/file" --rw="write$([ "$1" = reads ] || echo :64k)" --bs=64k --size=400M \
	--direct=1 --clocksource=clock_gettime --output=/tmp/fill
try 'a device without data' btrfs -q device add -f -K $from "$LAB_MNT" || bail_out add
for n in 1 2 3 4; do
	umount "$LAB_MNT" && lab_mount /dev/labda || bail_out remount
	for disk in "${used[@]}"; do lab_slow "$disk" 300; done
	load "${work[@]}" &
	load=$!
	sleep 0.3
	btrfs replace start -B -f $from $to "$LAB_MNT" &
	replace=$!
	# Nothing can be done on this file system if it hangs.
	try "replace $n ends" ends $replace || { done_testing; exit 1; }
	try "replace $n" wait $replace
	kill $load
	wait $load
	for disk in "${used[@]}"; do lab_slow "$disk" 100; done
	read -r from to <<<"$to $from"
done
try 'checksums' btrfs scrub start -B "$LAB_MNT"
try unmount umount "$LAB_MNT"
done_testing
