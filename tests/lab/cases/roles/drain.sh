#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=4G,seed=1 --disk hdd:size=4G,seed=2 --disk hdd:size=4G,seed=3 --disk hdd:size=4G,seed=4
#
# `btrfs device policy drain`: devices get no new chunks, each of their stripes is copied once, and to others. It can be
# interrupted, continued and taken back; and without room or devices nothing changes.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

roles() {
	btrfs device policy get role "$LAB_MNT" | awk 'NR > 2 { print $1 "=" $3 }' | xargs
}

refused() {	# STATUS TEXT WORD...: and nothing changes
	local status=$1 text=$2 before

	shift 2
	before=$(roles)
	said=$(btrfs device policy drain "$@" "$LAB_MNT" 2>&1)
	is "$? $(grep -c "$text" <<< "$said")" "$status 1" "refused: $*" || diag "$said"
	is "$(roles)" "$before" 'and nothing changes'
}

json() {
	btrfs --format json "$@" 2>/dev/null | tr -d ' "\n'
}

try mkfs lab_mkfs raid1/raid1 /dev/labda /dev/labdb /dev/labdc /dev/labdd || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_fill "$LAB_MNT/file" 900
lab_small_files "$LAB_MNT/small" 3000 1500 >/dev/null
sync
sum=$(lab_sum "$LAB_MNT/file" "$LAB_MNT"/small/*)
refused 1 'too few devices' 2 3 4
refused 1 'no device given'
json --dry-run device policy drain 4 > /tmp/plan
is "$(roles)" '1=data-preferred 2=data-preferred 3=data-preferred 4=data-preferred' '--dry-run changes nothing'

json device policy drain 4 "$LAB_MNT" > /tmp/drained
used=$(grep -o ',used:[0-9]*' /tmp/plan | head -n 1 | cut -d : -f 2)
copied=$(grep -o 'copied-bytes:[0-9]*' /tmp/drained | cut -d : -f 2)
in_range "$((copied * 1000 / used))" 990 1020 'thousandths of the bytes in use are copied' || diag "$(cat /tmp/plan /tmp/drained)"
is "$(roles)" '1=data-preferred 2=data-preferred 3=data-preferred 4=draining' 'it drains'
is "$(lab_devids /dev/labda DATA METADATA SYSTEM)" '1 2 3' 'nothing is on it'
lab_fill "$LAB_MNT/more" 200
sync
is "$(lab_devids /dev/labda DATA METADATA SYSTEM)" '1 2 3' 'nor gets there'

btrfs device policy drain 3 "$LAB_MNT" >/dev/null 2>&1 &
sleep 1
kill -9 $!
wait $! 2>/dev/null
is "$(roles)" '1=data-preferred 2=data-preferred 3=draining 4=draining' 'a drain that is killed leaves the devices draining'
try unmount umount "$LAB_MNT"
try 'mount again' lab_mount /dev/labda
try 'it goes on' btrfs device policy drain --resume "$LAB_MNT"
is "$(lab_devids /dev/labda DATA METADATA SYSTEM)" '1 2' 'to the end'
is "$(btrfs device policy drain --undo 3 "$LAB_MNT" | xargs) $(roles)" \
	'role of 3 (/dev/labdc): draining -> data-preferred 1=data-preferred 2=data-preferred 3=data-preferred 4=draining' 'one is taken back'
try 'and drained and removed with the other' btrfs device policy drain --remove 3 4 "$LAB_MNT"
is "$(roles)" '1=data-preferred 2=data-preferred' 'they are gone'
is "$(lab_sum "$LAB_MNT/file" "$LAB_MNT"/small/*)" "$sum" 'contents'
try scrub lab_scrub

# BTRFS_IOC_ADD_DEV_ROLE, which the command does not call with that role
is "$(perl -MErrno -e 'my $path = "/dev/labdc\0";
	my $args = pack("QLLQ6", unpack("Q", pack("P", $path)), 5, 0, (0) x 6);
	open(DIR, "<", $ARGV[0]) && ioctl(DIR, 0x40409471, $args) and print "added" or print $!{EINVAL} ? "EINVAL" : $!' "$LAB_MNT")" \
	EINVAL 'none is added as draining'
try 'a device with a role' btrfs device policy add -f metadata-only /dev/labdc "$LAB_MNT"
try 'metadata goes there' btrfs balance --preferred-metadata "$LAB_MNT"
try 'it is drained' btrfs device policy drain /dev/labdc "$LAB_MNT"
try 'taken back' btrfs device policy drain --undo "$LAB_MNT"
is "$(roles)" '1=data-preferred 2=data-preferred 3=metadata-only' 'it has its role again'
is "$(btrfs device policy drain --undo "$LAB_MNT")" 'no device is draining, nothing to do' 'there is no more'

try 'another for data' btrfs device policy add -f data-only /dev/labdd "$LAB_MNT"
fallocate -l $(($(df -B1 --output=avail "$LAB_MNT" | tail -n 1) * 9 / 10)) "$LAB_MNT/full"
sync
refused 4 'cannot drain' 4
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
