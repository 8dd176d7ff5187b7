#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 224M --disk hdd:size=8G,seed=1 --disk hdd:size=8G,seed=2 --disk ssd:size=16G,seed=3 --disk ssd:size=16G,seed=4
#
# Metadata of two hard disks moves to two SSDs at the media rate of a hard disk, much faster than a balance
# relocates it; so does data. A limit of the rate holds.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"
mapfile -t disks < <(lab_disks)

# move_kind KIND FROM [NAME=VALUE...]: its stripes on the two disks from the one of that number on, to the other two
move_kind() {
	local items start

	items=$(stripes /dev/labda "$1" | awk -v from="$2" '$3 >= from && $3 < from + 2 { print $1 ":" $2 ":" ($3 + 1) % 4 + 1 }')
	lab_reset >/dev/null
	start=$(lab_now)
	"$move" start "${@:3}" $items >/tmp/moved || { cat /tmp/moved; return 1; }
	ms=$((($(lab_now) - start) / 1000000))
	# The same without what each stripe takes on its own, two commits for the most part.
	copy_ms=$((ms - 80 * $(wc -w <<<"$items")))
	read=$((($(lab_stat /dev/labda read_bytes) + $(lab_stat /dev/labdb read_bytes)) / 1048576))
	written=$(awk '{ print int($5 / 1048576) }' /tmp/moved)
	diag "$1: $(cat /tmp/moved), $ms ms, $read MiB read from disks"
}

try mkfs lab_mkfs raid1/raid1 "${disks[@]:0:2}" || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'small files' [ "$(lab_small_files "$LAB_MNT/small" 14000 2000 12000)" = all ]
lab_fill "$LAB_MNT/f" 250
for n in 1 2 3; do
	btrfs -q subvolume snapshot "$LAB_MNT" "$LAB_MNT/snapshot$n"
	touch "$LAB_MNT"/small/*$n
done
sync
try 'two SSDs' btrfs device add -f "${disks[@]:2:2}" "$LAB_MNT"
move_kind METADATA 1
stripes_ms=$ms
in_range $((read * 1000 / copy_ms)) 195 260 'MiB/s of metadata, from disks that read 217 MiB/s'
is "$(lab_devids /dev/labda METADATA)" '3 4' 'it is on the SSDs'
move_kind DATA 1
in_range $((read * 1000 / copy_ms)) 195 260 'MiB/s of data'
in_range $written 490 520 'MiB written: two copies of 250 MiB'
move_kind DATA 3
in_range $((written * 1000 / copy_ms)) 195 260 'MiB/s back to the hard disks'
move_kind METADATA 3
move_kind METADATA 1 limit=50000000
in_range $((written * 1048576 / 1000 / ms)) 40 51 'MB/s at a limit of 50'
move_kind METADATA 3
for n in 1 2; do
	echo 50000000 >"$(lab_sysfs)/devinfo/$n/scrub_speed_max"
done
move_kind METADATA 1
in_range $((written * 1048576 / 1000 / ms)) 40 51 'MB/s at the limit of scrub, 50'
move_kind METADATA 3
balance_ms=$(lab_time btrfs balance start -m "$LAB_MNT")
diag "stripes $stripes_ms ms, relocation $balance_ms ms"
is "$(lab_devids /dev/labda METADATA)" '3 4' 'relocation went to the SSDs, too'
in_range $((balance_ms / stripes_ms)) 5 1000 'times slower is relocation'
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda
done_testing
