#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=400M,seed=1 --disk ssd:size=400M,seed=2 --disk ssd:size=400M,seed=3 --disk ssd:size=400M,seed=4
#
# The parity of RAID5 is replaced, and data that it is computed from cannot be repaired: the replace must
# not end well with something else in its place. Once the file is gone it does, and the parity is right.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

replace() {
	btrfs replace start -B -f "$1" /dev/labdd "$LAB_MNT"
}

# device DEVID
device() {
	echo "/dev/labd$(tr 123 abc <<<"$1")"
}

try mkfs lab_mkfs raid5/raid1 /dev/labd[abc] || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
for file in bad good; do
	dd if=/dev/urandom of="$LAB_MNT/$file" bs=128K count=1 oflag=direct status=none
	sync
done
sum=$(lab_sum "$LAB_MNT/good")
mapfile -t stripes < <(lab_last_chunk /dev/labda)
read -r parity _ <<<"${stripes[2]}"
is "$(dd if="$(device "${stripes[0]% *}")" bs=64K count=1 skip=$((${stripes[0]#* } / 128)) iflag=direct status=none | md5sum)" \
	"$(head -c 64K "$LAB_MNT/bad" | md5sum)" 'the first file is in the first stripe'
try unmount umount "$LAB_MNT"
for n in 0 1; do
	read -r devid sector <<<"${stripes[n]}"
	dd if=/dev/urandom of="$(device "$devid")" bs=4K count=1 seek=$((sector / 8)) oflag=direct conv=notrunc status=none
done
try 'mount again' lab_mount /dev/labda || bail_out mount
replace "$parity" >/tmp/replace 2>&1
is $? 1 'the replace fails'
diag "$(cat /tmp/replace)"
rm "$LAB_MNT/bad"
sync
try 'and ends well without the file' replace "$parity"
try 'unmount again' umount "$LAB_MNT"
lab_wipe "$(device "${stripes[0]% *}")"
btrfs device scan --forget && btrfs device scan >/dev/null
try 'mount without a device of the data' lab_mount /dev/labdd degraded || bail_out mount
is "$(lab_sum "$LAB_MNT/good")" "$sum" 'the other file can be rebuilt'
try 'unmount at the end' umount "$LAB_MNT"
done_testing
