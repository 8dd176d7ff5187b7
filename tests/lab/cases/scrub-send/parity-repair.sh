#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=800M,seed=1 --disk ssd:size=800M,seed=2 --disk ssd:size=800M,seed=3
#
# Wrong parity of RAID5 is written anew from data whose checksums were right, not from what a second read gives.
# A scrub that may not write leaves it, also one that comes to the chunk when another device's has begun.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
stripes=160	# full ones, of the 20 MiB of the file

# Rubbish in the parity of the first full stripes of the last chunk.
spoil_parity() {
	local nr devid sector devices=()

	mapfile -t devices < <(lab_last_chunk /dev/labda)
	for ((nr = 0; nr < stripes; nr++)); do
		read -r devid sector <<<"${devices[(nr + 2) % 3]}"
		dd if=/dev/urandom of=/dev/labd"$(tr 123 abc <<<"$devid")" bs=64K seek=$((sector / 128 + nr)) count=1 \
			oflag=direct status=none || return
	done
}

# mib read_bytes|write_bytes
mib() {
	local d sum=0

	for d in $(lab_disks); do
		sum=$((sum + $(lab_stat "$d" "$1")))
	done
	echo $((sum >> 20))
}

# The first device goes at 2 MiB/s, so that the second comes while it is in the chunk.
late() {
	echo 2M >"$(lab_sysfs)/devinfo/1/scrub_speed_max" && btrfs scrub start -r /dev/labda && sleep 3 &&
	lab_reset && btrfs scrub start -B -r /dev/labdb && btrfs scrub cancel /dev/labda && echo 0 >"$(lab_sysfs)/devinfo/1/scrub_speed_max"
}

try mkfs lab_mkfs raid5/raid1c3 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_fill "$LAB_MNT/file" 20
sum=$(lab_sum "$LAB_MNT/file")
umount "$LAB_MNT"
try 'spoil the parity' spoil_parity
try mount lab_mount /dev/labda || bail_out mount
try 'a read-only scrub that comes late' late
in_range "$(mib read_bytes)" 6 14 'MiB read: its data, and some of the first'
is "$(mib write_bytes)" 0 'MiB written by it'
lab_reset
is "$(btrfs scrub start -B "$LAB_MNT" 2>/dev/null | grep -c 'no errors found')" 1 'scrub finds no error in the data'
# 20 MiB of data, 10 MiB of parity before and again behind the lock, and some metadata.
in_range "$(mib read_bytes)" 40 50 'MiB read: the data once'
lab_reset
try 'scrub again' btrfs scrub start -B "$LAB_MNT"
in_range "$(mib read_bytes)" 30 40 'MiB read: parity is right now'
umount "$LAB_MNT"
lab_wipe /dev/labdb
btrfs device scan --forget && btrfs device scan >/dev/null
try 'mount without a device' lab_mount /dev/labda degraded || bail_out 'no mount'
is "$(lab_sum "$LAB_MNT/file")" "$sum" 'parity rebuilds the file'
try unmount umount "$LAB_MNT"
done_testing
