#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk ssd:size=512M,seed=3 --disk ssd:size=512M,seed=4 --disk ssd:size=512M,seed=5
#
# `btrfs device policy add`: devices have their role before the first chunk, under
# load; what is on a device or uses it is respected; and nothing is half added.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

roles() {
	btrfs device policy get role "$LAB_MNT" | awk 'NR > 2 { print $1 "=" $3 }' | xargs
}

refused() {	# STATUS WORD...: and no device comes
	local status=$1 before

	shift
	before=$(roles)
	said=$(btrfs device policy add "$@" "$LAB_MNT" 2>&1)
	is $? "$status" "refused: $*" || diag "$said"
	is "$(roles)" "$before" 'and nothing is added'
}

try mkfs lab_mkfs raid1/raid1 /dev/labda /dev/labdb || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'a file system is on the third' mkfs.btrfs -q -f /dev/labdc
refused 1 metadata-only /dev/labdd /dev/labdc
is "$(grep -c 'there is btrfs on it' <<< "$said")" 1 'it says what is on it' || diag "$said"
refused 2 metadata-only /dev/labdd /dev/labda
refused 1 metadata-only /dev/labdd "$LAB_MNT"
refused 1 metadata-only /dev/labdd /dev/labdd
btrfs --dry-run device policy add -f metadata-only /dev/labdc /dev/labdd "$LAB_MNT" > /tmp/said
is "$? $(grep -c '^would add' /tmp/said) $(roles)" '0 2 1=data-preferred 2=data-preferred' '--dry-run adds none'
is "$(blkid -p -o value -s TYPE /dev/labdc)" btrfs 'and leaves what is there'

# Data is written all the time: none of it may get there.
while [ ! -e /tmp/stop ]; do
	dd if=/dev/zero of="$LAB_MNT/load" bs=1M count=100 conv=fsync status=none && echo written
done >/tmp/load &
load=$!
try 'add two under load' btrfs device policy add -f metadata-only /dev/labdc /dev/labdd "$LAB_MNT"
touch /tmp/stop
wait $load
in_range "$(grep -c written /tmp/load)" 1 1e6 'files written meanwhile'
is "$(roles)" '1=data-preferred 2=data-preferred 3=metadata-only 4=metadata-only' 'with their role'
lab_fill "$LAB_MNT/more" 512
is "$(lab_devids /dev/labda DATA)" '1 2' 'no data gets there'
try 'metadata moves there' btrfs balance --preferred-metadata "$LAB_MNT"

# The kernel refuses the second: it cannot be opened for writing.
blockdev --setro /dev/labde 2>/dev/null
refused 1 data-only /dev/labde
blockdev --setrw /dev/labde 2>/dev/null
try 'then it can' btrfs device policy add data-only /dev/labde "$LAB_MNT"
try unmount umount "$LAB_MNT"
try 'mount again' lab_mount /dev/labda
is "$(roles)" '1=data-preferred 2=data-preferred 3=metadata-only 4=metadata-only 5=data-only' 'roles are on disk'
try 'unmount again' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
