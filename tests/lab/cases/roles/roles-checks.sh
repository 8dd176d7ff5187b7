#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3 --disk hdd:size=2G,seed=4
#
# Roles that leave too few devices are refused also where roles are ignored and
# while profiles are converted; a seed device says that it has no role to set.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
info=$(lab_sysfs)/devinfo
# Reasons of the uapi header.
too_few_metadata=5 too_few_data=4

roles() {
	"$(dirname "$LAB_LIB")/roles-ioctl" "$@"
}

store() {
	printf '%s' "$2" | lab_store "$info/$1/role"
}

# Roles in the chunk tree, by devid, as they are stored.
stored() {
	sync
	btrfs inspect-internal dump-tree -t chunk "$1" |
		awk '/DEV_ITEMS DEV_ITEM/ { mine = 1 } mine && $(NF - 1) == "type" { print $NF; mine = 0 }' | xargs
}

# Of which kind the log says that roles leave it too few devices.
too_few() {
	dmesg | sed -n 's/.*by the roles of devices, too few devices left for the \(.*\) profile.*/\1/p' | xargs
}

# --- roles that are ignored are checked when they are set ---
try 'ignored: mkfs' lab_mkfs raid1 $(lab_disks) || bail_out mkfs
try 'ignored: mount with nodevice_roles' lab_mount /dev/labda nodevice_roles
is "$(roles set 1=2 2=2 3=2 4=2)" "EINVAL 1 $too_few_metadata" 'ignored: no device for metadata is refused'
is "$(roles set 1=3 2=3 3=3 4=3)" "EINVAL 1 $too_few_data" 'ignored: no device for data is refused'
is "$(stored /dev/labda)" '0 0 0 0' 'ignored: and not stored'
for id in 1 2 3 4; do
	store $id data-only
done >/tmp/said
is "$(grep -c taken /tmp/said)" 2 'ignored: by sysfs two devices may exclude metadata, not more'
is "$(roles set flags=1 1=2 2=2 3=2 4=2)" set 'ignored: but by force'
is "$(roles set 1=0 2=0 3=0 4=0)" set 'ignored: back'
umount "$LAB_MNT"
dmesg -C
try 'ignored: mount' lab_mount /dev/labda
is "$(dmesg | grep 'too few')" '' 'ignored: nothing to warn of'
is "$(roles set 1=3 2=3 3=2 4=2)" set 'ignored: two devices for metadata'
try 'ignored: again' mount -o remount,nodevice_roles "$LAB_MNT"
try 'ignored: one of them is removed' btrfs device remove 2 "$LAB_MNT"
try 'ignored: no more' mount -o remount,device_roles "$LAB_MNT"
is "$(too_few)" metadata 'ignored: the log warns of it'
try 'ignored: unmount' umount "$LAB_MNT"

# --- roles that change during a conversion ---
# The chunks of data are converted first: those of metadata still have the old profile.
converting() {
	lab_fresh && lab_mkfs single/single $(lab_disks) && lab_mount /dev/labda && lab_fill "$LAB_MNT/f" 800 && sync || return
	btrfs balance start --force "$@" "$LAB_MNT" >/dev/null 2>&1 &
	sleep 1
	btrfs balance status "$LAB_MNT" | grep -q 'is running'
}

# The balance runs in the background of another shell.
settled() {
	while btrfs balance status "$LAB_MNT" | grep -q 'is running'; do
		sleep 1
	done
}

# What became of it.
converted() {
	btrfs balance status "$LAB_MNT"
	lab_chunks /dev/labda | awk '$1 != "DATA" { print $1, $2 }' | sort -u | xargs
}

try 'convert: is running' converting -dconvert=raid1 -mconvert=raid1
is "$(roles set 1=3 2=2 3=2 4=2)" "EINVAL 2 $too_few_metadata" 'convert: one device for metadata is not enough for RAID1'
is "$(store 1 metadata-only) $(store 2 data-only) $(store 3 data-only) $(store 4 data-only)" 'taken taken taken EINVAL' \
	'convert: by sysfs neither'
is "$(roles set 1=3 2=1 3=2 4=2)" set 'convert: two devices are enough'
settled
is "$(converted)" "No balance found on '/mnt'
METADATA RAID1 SYSTEM RAID1" 'convert: is done'

try 'convert: data is running' converting -dconvert=raid1c3
is "$(roles set 1=3 2=3)" "EINVAL 1 $too_few_data" 'convert: two devices for data are not enough for RAID1C3'
settled
is "$(lab_chunks /dev/labda | awk '$1 == "DATA" { print $2 }' | sort -u)" RAID1C3 'convert: data is done'

try 'convert: to be paused' converting -dconvert=raid1 -mconvert=raid1
try 'convert: paused' btrfs balance pause "$LAB_MNT"
is "$(roles set 1=3 2=2 3=2 4=2)" "EINVAL 2 $too_few_metadata" 'convert: not while it is paused'
umount "$LAB_MNT"
try 'convert: paused and mounted again' lab_mount /dev/labda skip_balance
is "$(roles set 1=3 2=2 3=2 4=2)" "EINVAL 2 $too_few_metadata" 'convert: not after a mount either'
is "$(roles set 1=1 2=0 3=0 4=0)" set 'convert: other roles'
try 'convert: cancelled' btrfs balance cancel "$LAB_MNT"
# Chunks that have the new profile already still need it.
new=$(lab_chunks /dev/labda | grep -c '^METADATA RAID1 \|^SYSTEM RAID1 ')
[ "$new" = 0 ] && want=set || want="EINVAL 2 $too_few_metadata"
is "$(roles set 1=3 2=2 3=2 4=2)" "$want" "convert: cancelled, with $new chunks of RAID1"
try 'convert: back to single' btrfs balance start --force -mconvert=single "$LAB_MNT"
is "$(roles set 1=3 2=2 3=2 4=2)" set 'convert: allowed without them'
try 'convert: writable' lab_writable
try 'convert: unmount' umount "$LAB_MNT"
try 'convert: btrfs check' btrfs check /dev/labda

# --- a seed device ---
try 'seed: begin afresh' lab_fresh
try 'seed: mkfs' lab_mkfs single/single /dev/labdb
try 'seed: make' btrfstune -f -S 1 /dev/labdb
mount -t btrfs -o ro /dev/labdb "$LAB_MNT" 2>/dev/null
try 'seed: sprout' btrfs device add -f -K /dev/labda "$LAB_MNT"
try 'seed: writable' mount -o remount,rw "$LAB_MNT"
info=$(echo /sys/fs/btrfs/*-*/devinfo)
dmesg -C
refuse 'seed: its role cannot be set' btrfs -q device policy tag metadata-preferred 1 "$LAB_MNT"
is "$(btrfs -q device policy tag metadata-preferred 1 "$LAB_MNT" 2>&1 | grep -ci seed)" 1 'seed: the command says why'
in_range "$(dmesg | grep -i 'role' | grep -ci seed)" 1 2 'seed: the log says why'
is "$(dmesg | grep -i 'no such device')" '' 'seed: it is not missing'
dmesg -C
is "$(store 1 metadata-preferred)" "$(roles set 1=1 | cut -d' ' -f1)" 'seed: the same error by sysfs'
is "$(roles set 2=1)" set 'seed: the new device has one'
try 'seed: unmount' umount "$LAB_MNT"

# --- a device is added where none was left to exclude ---
try 'degraded: begin afresh' lab_fresh
try 'degraded: mkfs' lab_mkfs raid1/raid1 /dev/labd{a,b}
lab_pull /dev/labdb
btrfs device scan --forget
dmesg -C
try 'degraded: mount' lab_mount /dev/labda degraded
is "$(too_few)" '' 'degraded: without roles nothing to warn of'
try 'degraded: add a device for data' btrfs -q device policy add data-only /dev/labdc "$LAB_MNT"
is "$(too_few)" metadata 'degraded: the log warns that metadata has one device'
try 'degraded: unmount' umount "$LAB_MNT"
done_testing
