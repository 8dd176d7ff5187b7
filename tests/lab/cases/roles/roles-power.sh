#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=300M,seed=1,volatile=1 --disk ssd:size=300M,seed=2,volatile=1 --disk hdd:size=512M,seed=3,volatile=1
#
# Power cuts while roles are being set: afterwards all devices have the old roles
# or all the new ones, and super blocks and chunk tree say the same.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

roles() {
	local id

	for id in 1 2 3; do
		sed 's/.*\[\(.*\)\].*/\1/' "$(lab_sysfs)/devinfo/$id/role"
	done | xargs
}

# The stored fields, from the chunk tree and from each super block.
stored() {
	btrfs inspect-internal dump-tree -t chunk /dev/labda |
		awk '/DEV_ITEMS DEV_ITEM/ { mine = 1 } mine && $(NF - 1) == "type" { print $NF; mine = 0 }' | xargs
	for d in $(lab_disks); do
		btrfs inspect-internal dump-super -f "$d" | awk '$1 == "dev_item.type" { print $2 }'
	done | xargs
}

all_disks() {
	local d

	for d in $(lab_disks); do
		lab_power "$d" "$1"
	done
}

# One command for all three, while the disks have something else to write.
change_roles() {
	dd if=/dev/zero of="$LAB_MNT/f" bs=64k count=8 2>/dev/null
	btrfs -q device policy tag "$1" 1 2 3 "$LAB_MNT"
}

# cut N HOW: lose power N * 3.7 ms into it
old=data-preferred new=metadata-preferred
cut() {
	local got swap

	change_roles $new >/dev/null 2>&1 &
	sleep "$(awk -v n="$1" 'BEGIN { print n * 0.0037 }')"
	all_disks "$2"
	wait
	umount "$LAB_MNT"
	all_disks on
	lab_mount /dev/labda || bail_out "cut $1: cannot be mounted any more"
	got=$(roles)
	case $got in
	"$old $old $old") kept=$((kept + 1)) ;;
	"$new $new $new") changed=$((changed + 1)); swap=$old; old=$new; new=$swap ;;
	*) not_ok "cut $1, $2: half of the roles: $got"; return ;;
	esac
	# What the mount found is what the next commit writes.
	touch "$LAB_MNT/g"
	sync
	stored >/tmp/stored
	[ "$(sort -u /tmp/stored | wc -l)" = 1 ] || { not_ok "cut $1, $2: super blocks differ: $(paste -sd/ /tmp/stored)"; return; }
	good=$((good + 1))
}

try mkfs lab_mkfs raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
kept=0 changed=0 good=0 total=0
for n in $(seq 0 4 16); do
	for how in cut 'cut keep' "cut random $n"; do
		total=$((total + 1))
		cut "$n" "$how"
	done
done
is $good $total 'old roles or new ones, never half'
in_range $kept 2 $((total - 2)) 'cuts before the change was on disk'
in_range $changed 2 $((total - 2)) 'cuts after it'
dmesg -C
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
