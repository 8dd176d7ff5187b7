#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3 --disk hdd:size=2G,seed=4
#
# roundrobin with one, two and three devices missing, and with a damaged one:
# everything can be read, and what is damaged is repaired.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# without DEVICE...: mount and read with these missing
without() {
	local d options=ro,degraded,read_policy=roundrobin

	btrfs device scan --forget || return
	for d in $(lab_disks); do
		[[ " $* " == *" $d "* ]] || options+=,device=$d
	done
	lab_mount /dev/labda "$options" || return
	[ "$(btrfs device policy get read-policy "$LAB_MNT")" = roundrobin ] || { echo 'another policy'; return 1; }
	[ "$(lab_sum "$LAB_MNT/a")" = "$sum" ] || { echo 'contents differ'; return 1; }
	lab_idle && umount "$LAB_MNT"
}

try mkfs lab_mkfs raid1c4 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_fill "$LAB_MNT/a" 64
sum=$(lab_sum "$LAB_MNT/a")
umount "$LAB_MNT"
try 'one missing' without /dev/labdb
try 'two missing' without /dev/labdb /dev/labdc
try 'three missing' without /dev/labdb /dev/labdc /dev/labdd

# Zeros over parts of one device, beyond its super blocks.
for at in $(seq 100 20 600); do
	dd if=/dev/zero of=/dev/labdc bs=1M seek=$at count=8 conv=notrunc 2>/dev/null
done
sync
btrfs device scan >/dev/null
try 'mount with a damaged device' lab_mount /dev/labda read_policy=roundrobin
for i in 1 2 3 4; do
	lab_drop_caches
	is "$(lab_sum "$LAB_MNT/a")" "$sum" "contents, round $i"
done
btrfs scrub start -B "$LAB_MNT" >/dev/null 2>&1
in_range "$(btrfs device stats /dev/labdc | awk '$1 ~ /corruption_errs/ { print $2 }')" 1 1e9 'damage was seen'
try 'a second scrub finds nothing' lab_scrub
try 'nothing is left in flight' lab_idle
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda
done_testing
