#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk ssd:size=1G,seed=1 --disk hdd:size=1G,seed=2
#
# A chunk with an active swap file cannot be moved: it is counted as misplaced,
# the balance says so and comes to its end, and what else is misplaced is moved.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

misplaced() {
	cat "$(lab_sysfs)/allocation/$1/misplaced_bytes"
}

# Bytes of data chunks on the SSD.
on_ssd() {
	lab_chunks /dev/labda | awk '$1 == "DATA" && $4 == 1 { sum += $3 } END { print sum + 0 }'
}

roles() {
	btrfs -q device policy tag --force "$1" 1 "$LAB_MNT" && btrfs -q device policy tag --force "$2" 2 "$LAB_MNT"
}

try mkfs lab_mkfs single/single $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'data on the SSD' roles data-only metadata-only
try 'where metadata is not' btrfs balance start --full-balance "$LAB_MNT"
touch "$LAB_MNT/swap"
chattr +C "$LAB_MNT/swap"
lab_fill "$LAB_MNT/swap" 64
chmod 600 "$LAB_MNT/swap"
sync
lab_fill "$LAB_MNT/f" 200
sum=$(lab_sum "$LAB_MNT/f")
sync
try mkswap mkswap -q "$LAB_MNT/swap"
try swapon swapon "$LAB_MNT/swap"

try 'other roles' roles metadata-only data-only
before=$(misplaced data)
is "$before" "$(on_ssd)" 'all data is misplaced'
btrfs balance --preferred-metadata --method relocate "$LAB_MNT" >/tmp/out 2>&1
diag "$(cat /tmp/out)"
try 'the balance says what it could not do' grep -qE ' [1-9][0-9]* not moved by the kernel' /tmp/out
in_range "$(misplaced data)" 1 $((before - 1)) 'it has moved the rest'
is "$(misplaced metadata) $(misplaced system)" '0 0' 'and metadata'
is "$(misplaced data)" "$(on_ssd)" 'the chunk with the swap file is counted'
in_range "$(dmesg | grep -c 'due to active swapfile')" 1 2 'the kernel says which and why'
refuse 'the SSD cannot be removed' btrfs device remove 1 "$LAB_MNT"
try 'writable' lab_writable
try swapoff swapoff "$LAB_MNT/swap"
try 'then it goes, too' btrfs balance --preferred-metadata "$LAB_MNT"
is "$(on_ssd)" 0 'no data is left on the SSD'
lab_drop_caches
is "$(lab_sum "$LAB_MNT/f")" "$sum" 'contents'
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda
done_testing
