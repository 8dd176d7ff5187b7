#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3
#
# The file devinfo/<ID>/role itself: what it shows, what it takes, what it
# refuses, and that what it took gets on disk by itself.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
info=$(lab_sysfs)/devinfo

role() {
	sed 's/.*\[\(.*\)\].*/\1/' "$info/$1/role"
}

store() {
	printf '%s' "$2" | lab_store "$info/$1/role"
}

# The stored field of devid 1: in the chunk tree and in its own super block. No sync here.
on_disk() {
	echo 3 >/proc/sys/vm/drop_caches
	btrfs inspect-internal dump-tree -t chunk /dev/labda |
		awk '/DEV_ITEMS DEV_ITEM 1\)/ { mine = 1 } mine && $(NF - 1) == "type" { print $NF; exit }'
	btrfs inspect-internal dump-super -f /dev/labda | awk '$1 == "dev_item.type" { print $2 }'
}

# junk NAME: what is on stdin is refused and changes nothing
junk() {
	is "$(lab_store "$info/2/role") $(role 2)" 'EINVAL data-preferred' "junk: $1"
}

try mkfs lab_mkfs single/raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
is "$(cat /sys/fs/btrfs/features/device_role)" 0 'the feature file'
is "$(cat "$info/1/role")" '[data-preferred] metadata-preferred data-only metadata-only' 'default, and all there are'
for r in metadata-preferred metadata-only data-preferred; do
	is "$(store 1 $r$'\n') $(role 1)" "taken $r" "$r"
	is "$(btrfs device policy get role 1 "$LAB_MNT")" $r 'the command agrees'
done
# A write starts the commit and does not wait for it; nor does it wait for one under way.
sleep 60
is "$(store 1 metadata-only) $(role 1)" 'taken metadata-only' 'without a newline'
sleep 2
is "$(on_disk | xargs)" '2 2' 'on disk soon: chunk tree and super block'
for r in data-preferred metadata-preferred data-preferred metadata-preferred; do
	store 1 $r >/dev/null
	# So that each meets the commit of the one before.
	btrfs device policy get role 1 "$LAB_MNT" >/dev/null
done
sleep 2
is "$(on_disk | xargs)" '1 1' 'on disk soon, the last of several in a row'
try 'back by sysfs' eval '[ "$(store 1 data-preferred)" = taken ]'
try 'set by command' btrfs -q device policy tag metadata-preferred 1 "$LAB_MNT"
is "$(on_disk | xargs)" '1 1' 'the command waits until it is on disk'
is "$(store 1 metadata-only)" taken 'and back in sysfs'
is "$(store 2 data-only)" taken 'two devices are left for metadata'
is "$(store 3 data-only) $(role 3)" 'EINVAL data-preferred' 'one would not do for RAID1'
is "$(store 2 data-preferred)" taken 'and back'
try 'clear the log' dmesg -C

junk newline < <(printf '\n')
junk 'a space before' < <(printf ' data-only')
junk 'a space after' < <(printf 'data-only ')
junk 'a part of a name' < <(printf data-onl)
junk 'a letter too many' < <(printf data-onlyx)
junk 'capital letters' < <(printf Data-Only)
junk 'two newlines' < <(printf 'data-only\n\n')
junk 'a name and a NUL' < <(printf 'data-only\0')
junk 'brackets' < <(printf '[data-only]')
junk negative < <(printf -- -1)
junk number < <(printf 3)
junk '2^64' < <(printf 18446744073709551616)
junk binary < <(printf '\001\377\200')
junk random < <(head -c 300 /dev/urandom)
junk '4095 newlines' < <(head -c 4095 /dev/zero | tr '\0' '\n')
junk '4096 zeros' < <(head -c 4096 /dev/zero)
junk '4096 letters' < <(head -c 4096 /dev/zero | tr '\0' a)
junk foreign < <(printf foreign)
is "$(lab_store "$info/2/role" </dev/null) $(role 2)" 'taken data-preferred' 'an empty write is none'
is "$(dmesg)" '' 'junk leaves no word in the log'

mount -o remount,ro "$LAB_MNT"
is "$(store 2 data-only) $(role 2)" 'EROFS data-preferred' 'read-only mount'
mount -o remount,rw "$LAB_MNT"
is "$(store 2 data-only) $(role 2)" 'taken data-only' 'writable again'
fsfreeze -f "$LAB_MNT"
is "$(store 2 data-preferred) $(role 2)" 'EBUSY data-only' 'frozen'
fsfreeze -u "$LAB_MNT"
is "$(store 2 data-preferred) $(role 2)" 'taken data-preferred' 'thawed'
is "$(printf data-only | setpriv --reuid 65534 --clear-groups bash -c ". '$LAB_LIB'; lab_store '$info/2/role'") $(role 2)" \
	'EACCES data-preferred' 'another user'
try unmount umount "$LAB_MNT"
try 'mount again' lab_mount /dev/labda
is "$(role 1) $(role 2)" 'metadata-only data-preferred' 'the roles are still there'
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
