#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=1G,seed=1 --disk hdd:size=1G,seed=2 --disk hdd:size=1G,seed=3 --disk ssd:size=1G,seed=4 --disk ssd:size=1G,seed=5
#
# Roles before the first mount: right after mkfs, by path, UUID and label. Nothing stays mounted, nothing else goes on,
# and what cannot be mounted is refused. A new array has its roles and its metadata in place within two seconds.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
policy="btrfs device policy"
disks=(/dev/labda /dev/labdb /dev/labdc) ssds=(/dev/labdd /dev/labde)

# What is on disk, or in force where it is mounted: a word for each device.
types() {
	{ $policy show -T "$LAB_MNT" 2>/dev/null || $policy show -T --offline /dev/labda; } | grep -oE '(data|metadata)-(only|preferred)' | xargs
}

# refused WHAT STATUS WORDS COMMAND...: it says that, and no role changes
refused() {
	local what=$1 status=$2 words=$3 before said

	shift 3
	before=$(types)
	said=$("$@" 2>&1)
	is "$?" "$status" "$what: refused"
	is "$(grep -cF "$words" <<<"$said")" 1 "$what: it says so" || diag "$said"
	is "$(types)" "$before" "$what: roles stay"
}

new_array() {
	lab_mkfs raid1c3/raid1 "${disks[@]}" "${ssds[@]}" &&
		btrfs -v device policy tag --offline metadata-only "${ssds[@]}" data-only "${disks[@]}" >/tmp/said &&
		lab_mount /dev/labda && btrfs -q balance --preferred-metadata "$LAB_MNT"
}

took=$(lab_time new_array)
in_range "$took" 1 2000 'mkfs, roles, the first mount, metadata moved: ms of virtual time'
try 'nothing is misplaced' $policy usage -c "$LAB_MNT" >/dev/null
is "$(grep -c "until 'btrfs balance --preferred-metadata $LAB_UUID'" /tmp/said)" 1 'it says how to go on'
refused 'a mounted one' 2 'leave out --offline for what is mounted' $policy tag --offline data-preferred "${disks[@]}"
lab_fill "$LAB_MNT/f" 300
try 'a balance is paused' eval 'btrfs balance start --bg -d "$LAB_MNT" >/dev/null && btrfs balance pause "$LAB_MNT"'
try unmount umount "$LAB_MNT"
is "$(types)" 'data-only data-only data-only metadata-only metadata-only' 'on disk'

try 'by UUID' $policy tag --offline -q data-preferred rotational "$LAB_UUID"
is "$(dmesg | grep -o 'balance: resume.*')" 'balance: resume skipped' 'the balance is not continued'
try label btrfs filesystem label /dev/labda 'old pool'
try 'by label' $policy tag --offline metadata-preferred nonrotational 'old pool' >/dev/null
is "$(types)" 'data-preferred data-preferred data-preferred metadata-preferred metadata-preferred' 'on disk'
is "$(ls /sys/fs/btrfs | grep -c "$LAB_UUID"; grep -c btrfs /proc/mounts)" '0
0' 'nothing is mounted'
is "$(btrfs --format json device policy tag --offline data-only 1 2 3 "$LAB_UUID" | grep -c '"mount-point": null')" 1 JSON
refused 'a dry run' 1 'usage --offline --assume' btrfs --dry-run device policy tag --offline data-preferred "${disks[@]}"
refused 'no name' 1 'no file system given' $policy tag --offline data-preferred 1
truncate -s 120M /tmp/image
try 'an image' mkfs.btrfs -q /tmp/image
refused 'an image' 1 'takes block devices' $policy tag --offline data-preferred 1 /tmp/image
lab_pull /dev/labdc
btrfs device scan --forget
refused 'a missing device' 1 'devices are missing' $policy tag --offline data-preferred /dev/labda
try 'all are there again' lab_add hdd:size=1G,seed=3
done_testing
