#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=800M,seed=1 --disk ssd:size=800M,seed=2 --disk ssd:size=800M,seed=3
#
# Scrub of RAID5 keeps the limit of each device, parity included.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
limit=$((20 << 20))

try mkfs lab_mkfs raid5/raid1c3 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_fill "$LAB_MNT/file" 300
sync
for id in 1 2 3; do
	try "limit of devid $id" eval "echo $limit >$(lab_sysfs)/devinfo/$id/scrub_speed_max"
done
lab_reset
begin=$(date +%s%N)
is "$(btrfs scrub start -B "$LAB_MNT" 2>/dev/null | grep -c 'no errors found')" 1 'no error'
took=$((($(date +%s%N) - begin) / 1000000))
for disk in labda labdb labdc; do
	in_range $(($(lab_stat /dev/$disk read_bytes) * 1000 / took * 100 / limit)) 80 101 "$disk: percent of the limit"
done
try unmount umount "$LAB_MNT"
done_testing
