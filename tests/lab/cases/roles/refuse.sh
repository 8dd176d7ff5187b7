#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk ssd:size=1G,seed=2 --disk ssd:size=1G,seed=3
#
# The ioctl itself: what it refuses, with which error, device and reason, that
# nothing has changed then, and what --force lets through.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

roles() {
	"$(dirname "$LAB_LIB")/roles-ioctl" "$@"
}

unchanged='3 1=0 2=0 3=0'

# refused NAME "ERRNO DEVID REASON" ARGUMENT...
refused() {
	local name=$1 want=$2

	shift 2
	is "$(roles set "$@")" "$want" "$name"
	is "$(roles get)" "$unchanged" "$name: nothing changed"
}

try mkfs lab_mkfs raid1/raid1c3 /dev/labda /dev/labdb /dev/labdc || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
is "$(roles get)" "$unchanged" 'get'
refused 'too few for metadata' 'EINVAL 1 5' 1=2
refused 'too few for data' 'EINVAL 2 4' 1=1 2=3 3=3
refused 'no such role' 'EINVAL 2 1' 1=1 2=4
refused 'another' 'EINVAL 2 1' 1=1 2=6
refused 'too few left by draining' 'EINVAL 1 5' 1=5
refused 'a foreign role' 'EINVAL 1 1' 1=0x80000004
refused 'no such device' 'ENODEV 9 2' 1=1 9=1
refused 'devid 0' 'ENODEV 0 2' 0=1
refused 'a device twice' 'EINVAL 1 3' 1=1 2=1 1=0
refused 'unknown flag' 'ENOTSUP 0 0' flags=0x80 1=1
refused 'reserved field' 'EINVAL 0 0' reserved=1 1=1
refused 'reserved field of an entry' 'EINVAL 1 0' entry=1 1=1
refused 'bad pointer' 'EFAULT 0 0' pointer=8 1=1
refused 'nothing to set' 'EINVAL 0 0'
refused 'too many' 'E2BIG 0 0' nr=5000
is "$(setpriv --reuid 65534 --clear-groups "$(dirname "$LAB_LIB")/roles-ioctl" set 1=1)" 'EPERM 0 0' 'another user'

is "$(roles set 1=3 2=1)" set 'two at once'
is "$(roles get)" '3 1=3 2=1 3=0' 'both'
is "$(roles set flags=1 1=2)" set 'forced'
is "$(roles set 2=0)" set 'what makes nothing worse is no reason to refuse'
is "$(roles get nr=1)" '3 1=2' 'get with too little space says how many there are'
refuse 'the command is refused as well' btrfs device policy tag data-only 2 "$LAB_MNT"
try 'and forced as well' btrfs -q device policy tag --force data-only 2 "$LAB_MNT"
is "$(roles get)" '3 1=2 2=2 3=0' 'the command sets the same'
mount -o remount,ro "$LAB_MNT"
is "$(roles set 1=0)" 'EROFS 0 0' 'read-only mount'
is "$(roles get)" '3 1=2 2=2 3=0' 'can be read there'
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda

try 'begin afresh' lab_fresh
try 'mkfs, mixed' mkfs.btrfs -q -f -K -U "$LAB_UUID" --mixed -d single -m single /dev/labda /dev/labdb
try mount lab_mount /dev/labda
is "$(roles set 1=1)" 'EINVAL 1 7' 'no roles on mixed block groups'
is "$(roles set 1=0)" set 'but the default'
try unmount umount "$LAB_MNT"
try 'btrfs check, mixed' btrfs check /dev/labda
done_testing
