#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=256M,seed=1 --disk ssd:size=256M,seed=2 --disk hdd:size=512M,seed=3 --disk hdd:size=512M,seed=4
#
# What other kernels have written into the field of the role: tags of the
# allocation-hint patches, values nobody has defined, bits that are not ours, and
# roles that leave no device for metadata, with the way out.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
dev_type=$(dirname "$LAB_LIB")/dev-type

# Stop, write types as DEVID=VALUE..., go on.
retag() {
	! mountpoint -q "$LAB_MNT" || umount "$LAB_MNT" || return
	"$dev_type" $(lab_disks) -- "$@" && btrfs check /dev/labda || return
	dmesg -C
	lab_mount /dev/labda
}

roles() {
	local id

	for id in 1 2 3 4; do
		sed 's/.*\[\(.*\)\].*/\1/' "$(lab_sysfs)/devinfo/$id/role"
	done | xargs
}

# Types in the chunk tree, by devid.
types() {
	btrfs inspect-internal dump-tree -t chunk /dev/labda |
		awk '/DEV_ITEMS DEV_ITEM/ { mine = 1 } mine && $(NF - 1) == "type" { print $NF; mine = 0 }' | xargs
}

# Devids that hold chunks of the kind.
where() {
	lab_chunks /dev/labda | grep "^$1" | cut -d' ' -f4- | xargs -n1 | sort -u | xargs
}

enforced() {
	btrfs device policy usage "$LAB_MNT" | grep '^Enforced:'
}

# Chunks made by this kernel, for all that there is.
remake() {
	btrfs balance start --force "$LAB_MNT" && lab_fill "$LAB_MNT/f" 50 && sync
}

try mkfs lab_mkfs raid1 $(lab_disks) || bail_out mkfs
try 'tags of allocation-hint kernels: 2 is metadata-only, 3 data-only' retag 1=2 2=2 3=3 4=3 || bail_out retag
is "$(roles)" 'metadata-only metadata-only data-only data-only' 'tags of allocation-hint kernels: shown'
is "$(dmesg | grep -i role)" '' 'tags of allocation-hint kernels: nothing to warn of'
try 'tags of allocation-hint kernels: new chunks' remake
is "$(where META) $(where SYS) / $(where DATA)" '1 2 1 2 / 3 4' 'tags of allocation-hint kernels: obeyed'

try 'foreign value 4' retag 1=4 2=4 3=0 4=0
is "$(roles)" 'foreign foreign data-preferred data-preferred' 'foreign value: shown'
try 'foreign value: new chunks' remake
is "$(where META) $(where SYS) $(where DATA)" '3 4 3 4 3 4' 'foreign value: not used while others can serve'
lab_stream 1 3000 2>/dev/null | dd of="$LAB_MNT/big" bs=1M iflag=fullblock 2>/dev/null
is "$(where DATA)" '1 2 3 4' 'foreign value: used when no other device can serve'
rm "$LAB_MNT/big"
try 'foreign value: give back what big took' btrfs balance start -dusage=90 "$LAB_MNT"
is "$(types)" '4 4 0 0' 'foreign value: kept'

try 'value 5' retag 1=5 2=5
is "$(roles)" 'draining draining data-preferred data-preferred' 'value 5: shown'
lab_stream 1 3000 2>/dev/null | dd of="$LAB_MNT/big" bs=1M iflag=fullblock 2>/dev/null
is "$(where DATA)" '3 4' 'value 5: never used'
is "$(types)" '5 5 0 0' 'value 5: kept'
rm "$LAB_MNT/big"

try 'undefined values 6 and 7' retag 1=6 2=7
is "$(roles)" 'data-preferred data-preferred data-preferred data-preferred' 'undefined values: no role'
is "$(dmesg | grep -c 'unknown role')" 2 'undefined values: one warning for each device'
try 'undefined values: replaced by a role' btrfs -q device policy tag metadata-preferred 1 2 "$LAB_MNT"
is "$(types)" '1 1 0 0' 'undefined values: gone'

try 'other bits of the field' retag 1=0xdead00000000bee8 2=0x100000000
is "$(roles)" 'data-preferred data-preferred data-preferred data-preferred' 'other bits: not a part of the role'
try 'other bits: set roles' btrfs -q device policy tag metadata-only 1 2 "$LAB_MNT"
is "$(types)" '16045481047390994154 4294967298 0 0' 'other bits: above 32 and below, all kept'

try 'roles that leave none for metadata: mounts' retag 1=3 2=3 3=3 4=3
is "$(dmesg | grep -c 'too few devices left for the metadata profile')" 1 'roles that leave none for metadata: warned of'
is "$(lab_small_files "$LAB_MNT/d" 1000000 1500 12000)" 'No space left on device' 'roles that leave none for metadata: ENOSPC'
try 'roles that leave none for metadata: writable' lab_writable
umount "$LAB_MNT"
dmesg -C
try 'nodevice_roles: mount' lab_mount /dev/labda nodevice_roles
try 'nodevice_roles: is shown' grep -q 'nodevice_roles' /proc/mounts
is "$(enforced)" 'Enforced: no, it is mounted with nodevice_roles' 'nodevice_roles: not enforced'
refuse 'nodevice_roles: a balance would do nothing' btrfs balance --preferred-metadata "$LAB_MNT"
is "$(lab_small_files "$LAB_MNT/e" 3000 1500 12000)" all 'nodevice_roles: there is space'
try 'nodevice_roles: roles can be set' btrfs -q device policy tag data-preferred 3 4 "$LAB_MNT"
umount "$LAB_MNT"
try 'nodevice_roles: not needed any more' lab_mount /dev/labda
is "$(roles)" 'data-only data-only data-preferred data-preferred' 'nodevice_roles: roles are in force again'
is "$(dmesg | grep 'too few devices')" '' 'nodevice_roles: nothing to warn of'
is "$(enforced | cut -d, -f1 | cut -d' ' -f2)" yes 'nodevice_roles: enforced again'
try 'nodevice_roles: by remount' mount -o remount,nodevice_roles "$LAB_MNT"
is "$(enforced)" 'Enforced: no, it is mounted with nodevice_roles' 'nodevice_roles: not enforced, by remount'
try 'writable to the end' lab_writable
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
