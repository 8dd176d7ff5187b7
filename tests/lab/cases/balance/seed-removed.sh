#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --disk hdd:size=512M,seed=1 --disk hdd:size=512M,seed=2 --disk hdd:size=512M,seed=3
# lab: --disk ssd:size=1G,seed=4 --disk ssd:size=1G,seed=5
# machines: raid1 raid1c3
#
# Devices of a seed can be removed from its sprout if the devices that stay are enough for
# all profiles; those of a seed do not count, as they take no chunks.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
machine=$1

# sprout SEEDS PROFILE METADATA NEW: two lists of devices
sprout() {
	local seeds new

	read -ra seeds <<<"$1"
	read -ra new <<<"$4"
	mkfs.btrfs -q -f -K -d "$2" -m "$3" "${seeds[@]}" 2>/dev/null &&
		mount "${seeds[0]}" "$LAB_MNT" && lab_fill "$LAB_MNT/f" 40 && umount "$LAB_MNT" &&
		btrfstune -S 1 "${seeds[0]}" && mount "${seeds[0]}" "$LAB_MNT" 2>/dev/null || return
	# The first device makes it writeable.
	btrfs -q device add -f -K "${new[0]}" "$LAB_MNT" && mount -o remount,rw "$LAB_MNT" || return
	[ ${#new[@]} = 1 ] || btrfs -q device add -f -K "${new[@]:1}" "$LAB_MNT"
}

# too_few DEVID: why it cannot be removed
too_few() {
	btrfs device remove "$1" "$LAB_MNT" 2>&1 | grep -o 'unable to go below.*'
}

# super DEVICE FIELD
super() {
	btrfs inspect-internal dump-super "$1" | awk -v name="$2" '$1 == name { print $2 }'
}

# The devices that stay, and the seed's that are left, say the same as the super block. btrfs check
# counts a removed device that it finds, so it must not find any.
unmounted() {
	local dev total=0

	try "$machine: unmount" umount "$LAB_MNT"
	for dev in $1; do
		total=$((total + $(super "$dev" dev_item.total_bytes)))
	done
	is "$(super "$2" total_bytes)" "$total" "$machine: total of the devices in the super block"
	is "$(super "$2" num_devices)" "$(wc -w <<<"$1")" "$machine: number of devices"
	for dev in $3; do
		lab_power "$dev" 'cut keep'
	done
	try "$machine: btrfs check" btrfs check "$2"
	for dev in $3; do
		lab_power "$dev" on
	done
	btrfs device scan --forget
	btrfs device scan >/dev/null
	try "$machine: mount, with all devices known" mount "$2" "$LAB_MNT"
	is "$(lab_sum "$LAB_MNT/f")" "$sum" "$machine: contents"
}

case $machine in
raid1)
	try "$machine: sprout" sprout '/dev/labda /dev/labdb' raid1 raid1 '/dev/labdd /dev/labde' ||
		bail_out sprout
	sum=$(lab_sum "$LAB_MNT/f")
	try "$machine: remove the first device of the seed" btrfs device remove 1 "$LAB_MNT"
	unmounted '/dev/labdb /dev/labdd /dev/labde' /dev/labdd /dev/labda
	try "$machine: remove the last device of the seed" btrfs device remove 2 "$LAB_MNT"
	is "$(too_few 3)" 'unable to go below two devices on raid1' "$machine: the devices that are left stay"
	unmounted '/dev/labdd /dev/labde' /dev/labdd '/dev/labda /dev/labdb' ;;
raid1c3)
	try "$machine: sprout" sprout '/dev/labda /dev/labdb /dev/labdc' raid1c3 dup /dev/labdd ||
		bail_out sprout
	sum=$(lab_sum "$LAB_MNT/f")
	is "$(too_few 1)" 'unable to go below three devices on raid1c3' "$machine: one device is too few"
	unmounted '/dev/labda /dev/labdb /dev/labdc /dev/labdd' /dev/labdd '' ;;
esac
try "$machine: unmount at the end" umount "$LAB_MNT"
done_testing
