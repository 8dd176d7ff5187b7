#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3
#
# A balance on the real kernel with its nth call to it failing, for every n: an error
# says what failed, nothing goes on, and the next balance does the rest.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
conf=/etc/btrfs-policy.d/$LAB_UUID.conf
sysfs=$(lab_sysfs)
injector=/tmp/failing.so
. "$(dirname "$LAB_LIB")/nth-call.sh"

# Roles by which all metadata is misplaced; after a balance the other ones make it misplaced again.
swap_roles() {
	swapped=$((!swapped))
	if [ $swapped = 1 ]; then
		btrfs-policy -q tag metadata-preferred 1 2 "$LAB_MNT" && btrfs-policy -q tag data-only 3 "$LAB_MNT"
	else
		btrfs-policy -q tag data-preferred 2 3 "$LAB_MNT" && btrfs-policy -q tag data-only 1 "$LAB_MNT"
	fi
	btrfs-policy usage -c "$LAB_MNT" >/tmp/out
	[ $? = 64 ] || { say "nothing is misplaced"; return 1; }
}

all_placed() {
	btrfs-policy usage -c "$LAB_MNT" >/tmp/out
}

try 'the injector' cc -O1 -shared -fPIC -o $injector "$(dirname "$LAB_LIB")/tools/failing.c" -ldl ||
	bail_out 'no injector'
try mkfs lab_mkfs raid1/raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_small_files "$LAB_MNT/files" 100 1500 >/dev/null
swapped=0
if balance_every_call swap_roles all_placed btrfs-policy -q balance --preferred-metadata "$LAB_MNT" >/tmp/diagnosis; then
	ok 'balance'
else
	not_ok 'balance'
fi
cat /tmp/diagnosis
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
