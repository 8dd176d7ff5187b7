#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3 --disk nvme:size=1G,seed=4
# lab: --disk nvme:size=1G,seed=5 --disk nvme:size=1200M,seed=6 --disk hdd:size=2G,seed=7
#
# "When a device dies" of btrfs-device-policy(8): each of its commands, for each
# layout of the guide, does what the page says it does.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
page=$(dirname "$0")/../../../../Documentation/man/btrfs-device-policy.rst

# The commands of one part: FIRST-LINE LAST-LINE
part() {
	sed -n "/^WHEN A DEVICE DIES\$/,/^EXAMPLES\$/p" "$page" | sed -n "/^$1\$/,/^$2\$/s/^    # //p"
}

# follow NAME DEVID NEW FIRST-LINE LAST-LINE: run the part, with this devid and this new device
follow() {
	local name=$1 devid=$2 new=$3 command said count=0

	while read -r command <&3; do
		count=$((count + 1))
		said=$(eval "$command" 2>&1)
		is $? 0 "$name: $command" || diag "$said"
	done 3< <(part "$4" "$5" | sed -e "s|/mnt|$LAB_MNT|g" -e 's|/dev/sda|/dev/labda|g' \
		-e "s|/dev/nvme2n1|$new|g" -e "s/ 5 / $devid /; s/ 5:max/ $devid:max/")
	in_range "$count" 2 9 "$name: commands"
}

sums() {
	lab_drop_caches
	(cd "$LAB_MNT" && sha256sum large small/* | sha256sum)
}

roles() {
	btrfs device policy get role "$LAB_MNT" | awk 'NR > 2 { print $3 }' | sort | xargs
}

# array NAME DISK-ROLE SSD-ROLE DEAD SSD...: a layout with a dead device, not mounted
array() {
	local name=$1 disks=$2 ssds=$3 dead=$4

	shift 4
	try "$name: mkfs" eval lab_fresh '&&' lab_mkfs raid1/raid1 /dev/labd{a,b,c} "$@" || return
	try "$name: mount" lab_mount /dev/labda || return
	try "$name: SSDs" btrfs -q device policy tag "$ssds" nonrotational "$LAB_MNT"
	try "$name: disks" btrfs -q device policy tag "$disks" rotational "$LAB_MNT"
	try "$name: chunks follow" btrfs balance --preferred-metadata "$LAB_MNT"
	lab_fill "$LAB_MNT/large" 60
	lab_small_files "$LAB_MNT/small" 500 1500 3000 >/dev/null
	sync
	sum=$(sums)
	before=$(roles)
	try "$name: unmount" umount "$LAB_MNT"
	lab_wipe "$dead"
	btrfs device scan >/dev/null
	dmesg -C
	follow "$name" 0 none 'WHEN A DEVICE DIES' 'Replace it'
}

# whole NAME: nothing is lost, and the array is redundant again
whole() {
	follow "$1, another profile" 0 none 'Chunks of another profile' EXAMPLES
	is "$(sums)" "$sum" "$1: contents"
	try "$1: writable" lab_writable
	try "$1: unmount at the end" umount "$LAB_MNT"
	btrfs device scan --forget
	btrfs device scan >/dev/null
	try "$1: mount, not degraded" lab_mount /dev/labda || return
	is "$(lab_chunks /dev/labda | cut -d' ' -f2 | sort -u)" RAID1 "$1: each chunk has two copies"
	try "$1: unmount" umount "$LAB_MNT"
	try "$1: btrfs check" btrfs check --check-data-csum /dev/labda
}

replace() {	# NAME DEVID NEW
	follow "$1" "$2" "$3" 'Replace it' 'Add a device and remove the missing one'
	is "$(roles)" "$before" "$1: the role is handed on"
	whole "$1"
}

add() {		# NAME DEVID NEW
	follow "$1" "$2" "$3" 'Add a device and remove the missing one' 'Continue without it'
	is "$(dmesg | grep -o 'no other device gets its role .*')" "no other device gets its role $4" \
		"$1: the log says that the role is not handed on"
	whole "$1"
}

without() {	# NAME
	follow "$1" 0 none 'Continue without it' 'Chunks of another profile'
	whole "$1"
}

d=/dev/labdd e=/dev/labde f=/dev/labdf g=/dev/labdg
array 'guide, replace' data-preferred metadata-only $e $d $e
replace 'guide, replace' 5 $f
array 'guide, add' data-preferred metadata-only $e $d $e
add 'guide, add' 5 $f metadata-only
array 'guide, without' data-preferred metadata-only $e $d $e
without 'guide, without'
array 'one SSD, replace' data-preferred metadata-only $d $d
replace 'one SSD, replace' 4 $f
array 'one SSD, add' data-preferred metadata-only $d $d
add 'one SSD, add' 4 $f metadata-only
array 'strict, replace' data-only metadata-only $e $d $e
replace 'strict, replace' 5 $f
array 'strict, add' data-only metadata-only $e $d $e
add 'strict, add' 5 $f metadata-only
array 'strict, without' data-only metadata-only $e $d $e
without 'strict, without'
array 'preferred, replace' data-only metadata-preferred $e $d $e
replace 'preferred, replace' 5 $f
array 'strict, disk replaced' data-only metadata-only /dev/labdc $d $e
replace 'strict, disk replaced' 3 $g
done_testing
