#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=2G,seed=1 --disk ssd:size=2G,seed=2 --disk ssd:size=2G,seed=3 --disk ssd:size=200M,seed=4 --disk ssd:size=2G,seed=5
#
# What cannot be moved is refused with its reason, and stays where it is; a move can be watched, limited and ended.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"
mapfile -t disks < <(lab_disks)

# refused WHAT WANT ITEM...: it is the first line of what the tool says
refused() {
	is "$("$move" start "${@:3}" | head -n 1)" "$2" "$1"
}

# chunk KIND: its last chunk
chunk() {
	stripes /dev/labda "$1" | awk 'END { print $1 }'
}

used() {
	btrfs device usage -b "$LAB_MNT" | grep -E 'Unallocated|Data|Metadata|System'
}

try mkfs lab_mkfs single/raid1 "${disks[@]:0:4}" || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_fill "$LAB_MNT/first" 10
lab_fill "$LAB_MNT/f" 200
touch "$LAB_MNT/swap"
chattr +C "$LAB_MNT/swap"
lab_fill "$LAB_MNT/swap" 20
chmod 600 "$LAB_MNT/swap"
sync
sum=$(lab_sum "$LAB_MNT/f")
data=$(chunk DATA)
meta=$(chunk METADATA)
on=$(at /dev/labda "$data" 0)
free=$(vacant /dev/labda "$data" 3 | head -n 1)
before=$(used)
is "$(cat /sys/fs/btrfs/features/move_stripe)" 0 'the kernel names the feature'
refused 'a field that must be zero' 'EINVAL ok' flags=1 "$data:0:$free"
refused 'a reserved field of the call' 'EINVAL ok' reserved=1 "$data:0:$free"
refused 'a flag of an item' 'EINVAL unsupported' item=1 "$data:0:$free"
refused 'no chunk there' 'ENOENT no-chunk' "$((data + 65536)):0:$free"
refused 'no such stripe' 'ENOENT no-chunk' "$data:2:$free"
refused 'no such device' 'ENODEV no-device' "$data:0:77"
refused 'the device that it is on' 'EEXIST target-has-stripe' "$data:0:$on"
refused 'the device of the other copy' 'EEXIST target-has-stripe' "$meta:0:$(at /dev/labda "$meta" 1)"
refused 'a device that is too small' 'ENOSPC no-space' "$data:0:4"
mkswap -q "$LAB_MNT/swap"
try 'a swap file' swapon "$LAB_MNT/swap"
refused 'it is in the chunk' 'ETXTBSY swap-file' "$data:0:$free"
try swapoff swapoff "$LAB_MNT/swap"
is "$(used)" "$before" 'no space is lost'

"$move" start limit=20000000 "$data:0:$free" >/tmp/slow 2>&1 &
sleep 1
is "$(cat "$(lab_sysfs)/exclusive_operation")" 'move stripes' 'sysfs names the operation'
refused 'another move' 'EBUSY exclusive-operation' "$meta:0:$free"
refuse 'a balance beside it' btrfs balance start -musage=1 "$LAB_MNT"
"$move" status >/tmp/status
diag "$(cat /tmp/status)"
in_range "$(awk '{ print int($NF / 1000000) }' /tmp/status)" 15 24 'MB after a second at 20 MB/s'
try 'a file written beside it' eval 'lab_fill "$LAB_MNT/g" 5 && sync'
try cancel "$move" cancel
wait
is "$(head -n 1 /tmp/slow)" 'ECANCELED canceled' 'it was canceled'
is "$(at /dev/labda "$data" 0)" "$on" 'the stripe stays'
"$move" start limit=20000000 "$data:0:$free" >/tmp/slow 2>&1 &
sleep 1
pkill -TERM -f 'move-stripes start' && wait
is "$(head -n 1 /tmp/slow)" 'EINTR canceled' 'a signal ends it'
refuse 'then there is no status' "$move" status
"$move" start "1:0:$free" "$data:0:$free" >/tmp/two
is "$(head -n 1 /tmp/two)" 'ENOENT no-chunk' 'the first item of two is refused'
is "$(at /dev/labda "$data" 0)" "$free" 'the second moves'
to_and_fro() {
	local n

	for n in 1 2 3 4 5 6; do
		"$move" start "$data:0:$on" && "$move" start "$data:0:$free" || return
	done
}
try 'to and fro, as the old place is free again' to_and_fro
lab_drop_caches
is "$(lab_sum "$LAB_MNT/f")" "$sum" contents
try unmount umount "$LAB_MNT"
try check btrfs check /dev/labda
done_testing
