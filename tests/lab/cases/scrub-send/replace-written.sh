#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 2G --disk ssd:size=300M,seed=1
#
# A replace passes a full stripe of RAID5 that is empty. Then, while it runs on, a file is written there.
# The parity is of the file and of what the source holds beside it: the target must hold the same, or the
# file is lost with its device.  The disks are null_blk's, in memory.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
nullb=/sys/kernel/config/nullb

# Of the last chunk: its address, then "DEVID OFFSET" for each stripe.
chunk() {
	btrfs inspect-internal dump-tree -t chunk /dev/disk1 | awk '
		/CHUNK_ITEM/ { sub(/\)/, "", $6); out = $6 "\n" }
		$1 == "stripe" { out = out $4 " " $6 "\n" }
		END { printf "%s", out }'
}

# write FILE STRIPES
write() {
	dd if=/dev/urandom of="$LAB_MNT/$1" bs=64K count="$2" oflag=direct status=none && sync -f "$LAB_MNT"
}

# place FILE: its address
place() {
	filefrag -b1 -v "$LAB_MNT/$1" | awk '/^ *0:/ { print $4 + 0 }'
}

# runs_behind OFFSET: has the replace passed the chunk at this place of the source, and does it still run?
runs_behind() {
	btrfs replace status -1 "$LAB_MNT" | tee /tmp/status
	awk -v at="$1" '/% done/ && $1 > at / (400 * 1048576) * 100 + 1 { ok = 1 } END { exit !ok }' /tmp/status
}

# passes OFFSET: waits until it has
passes() {
	for _ in {1..400}; do
		runs_behind "$1" && return
		sleep 0.1
	done
	return 1
}

try 'disks in memory' lab_null_disks 400 4 || bail_out disks
dd if=/dev/urandom of=/dev/disk4 bs=1M count=400 oflag=direct status=none
try mkfs lab_mkfs raid5/raid1 /dev/disk{1,2,3} || bail_out mkfs
try mount lab_mount /dev/disk1 || bail_out mount
{ read -r chunk; read -r file _; read -r source offset; read -r other _; } < <(chunk)
try 'three full stripes that stay' write kept 6
try 'and some that do not' write old 90
is "$(place kept),$(place old)" "$chunk,$((chunk + (6 << 16)))" 'they are where they should be'
rm "$LAB_MNT/old"
try 'another chunk has more to copy' fallocate -l 120M "$LAB_MNT/more"
sync -f "$LAB_MNT"
echo 4M >"$(lab_sysfs)/devinfo/$source/scrub_speed_max"
try 'replace the device of the second stripe' btrfs replace start -f "$source" /dev/disk4 "$LAB_MNT" || bail_out replace
try 'it passes the chunk' passes "$offset"
try 'write a file beside it' write new 1
is "$(place new)" $((chunk + (6 << 16))) 'it is where the removed one was'
try 'the replace still runs' runs_behind "$offset"
sum=$(lab_sum "$LAB_MNT"/{new,kept})
is "$(btrfs replace status "$LAB_MNT" | grep -c 'finished on.* 0 write errs, 0 uncorr. read errs')" 1 'it ends well'
try unmount umount "$LAB_MNT"
echo 0 >$nullb/disk"$file"/power
btrfs device scan --forget
btrfs device scan >/dev/null
try 'mount without the device of the file' lab_mount /dev/disk"$other" degraded || bail_out mount
is "$(lab_sum "$LAB_MNT"/{new,kept})" "$sum" 'the files can be rebuilt'
try 'unmount again' umount "$LAB_MNT"
done_testing
