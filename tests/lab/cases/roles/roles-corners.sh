#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=512M,seed=1 --disk ssd:size=1G,seed=2 --disk hdd:size=1G,seed=3 --disk hdd:size=1G,seed=4 --disk hdd:size=1G,seed=5 --disk hdd:size=1G,seed=6
#
# Corners of the choice of devices: stripes that a mix of roles must not narrow, an
# array of data-only devices, what is kept for system chunks, and a device that has
# less free space than the minimum, with the reports of a spill.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
space=$(lab_sysfs)/allocation

# "BYTES DEVID..." of the chunks of a kind
chunks() {
	lab_chunks /dev/labda | grep "^$1" | while read -r _ _ bytes devids; do
		echo "$bytes" $(xargs -n1 <<<"$devids" | sort -n)
	done
}

widths() {
	chunks "$1" | cut -d' ' -f2- | sort -u
}

# striped NAME PROFILE WANTED ROLE...: data chunks on devices with those roles
striped() {
	local name=$1 profile=$2 wanted=$3 id=0 role

	shift 3
	lab_fresh && lab_mkfs single $(lab_disks | head -n $#) && lab_mount /dev/labda || return
	for role; do
		id=$((id + 1))
		echo "$role" >"$(lab_sysfs)/devinfo/$id/role" || return
	done
	btrfs balance start --force -dconvert=$profile "$LAB_MNT" >/dev/null && lab_fill "$LAB_MNT/f" 20 || return
	[ "$(widths DATA)" = "$wanted" ] || { echo "$name: not $(widths DATA)"; return 1; }
	umount "$LAB_MNT" && btrfs check /dev/labda >/dev/null 2>&1
}

d=data-only p=data-preferred m=metadata-preferred
try 'raid10 on 4 exclusive and 2 default devices' striped 'is 6 wide' raid10 '1 2 3 4 5 6' $d $d $d $d $p $p
try 'raid0 on 1 exclusive and 3 default devices' striped 'is 4 wide' raid0 '1 2 3 4' $d $p $p $p
try 'raid5 on 1 exclusive and 2 default devices' striped 'is 3 wide' raid5 '1 2 3' $d $p $p
try 'raid6 with too few of the first choice' striped 'takes all' raid6 '1 2 3 4' $d $d $m $m
try 'raid0 with enough of the first choice' striped 'takes these' raid0 '2 3' $m $d $p
try 'raid10 with enough of the first choice' striped 'takes these, too' raid10 '2 3' $m $d $p $m

# --- no device is for metadata: a system chunk goes to one that excludes it ---
lab_fresh
try 'data-only: mkfs' lab_mkfs single/single /dev/labdc /dev/labdd || bail_out mkfs
try 'data-only: mount' lab_mount /dev/labdc
is "$(lab_small_files "$LAB_MNT/d" 10000 1500 3000 && sync)" all 'data-only: metadata chunks with space'
try 'data-only: both devices' btrfs -q device policy tag --force data-only 1 2 "$LAB_MNT"
try 'data-only: the system chunk is moved' btrfs balance start --force -s "$LAB_MNT"
in_range "$(cat "$space/system/spilled_chunks")" 1 1 'data-only: counted as spilled'
try 'data-only: writable' lab_writable
try 'data-only: unmount' umount "$LAB_MNT"

# --- a replace takes what a device for metadata keeps for system chunks, 16 MiB ---
lab_fresh
try 'kept space: mkfs' lab_mkfs raid1c4/raid1 /dev/labd{b..e} || bail_out mkfs
try 'kept space: mount' lab_mount /dev/labdb
try 'kept space: data' lab_fill "$LAB_MNT/f" 20
try 'kept space: roles' btrfs -q device policy tag metadata-preferred 1 2 3 "$LAB_MNT"
taken=$(btrfs --format json device policy usage "$LAB_MNT" |
	jq '[.[keys[1]].devices[] | select(.devid == 3) | .size - .unallocated] | add')
try 'kept space: all but 14 MiB are taken' btrfs filesystem resize "3:$((taken + (14 << 20)))" "$LAB_MNT"
rm -f /tmp/stop
for i in 1 2 3; do
	while [ ! -e /tmp/stop ]; do
		rm -f "$LAB_MNT/w$i"
		head -c 64K /dev/zero >"$LAB_MNT/w$i"
		sleep 0.01
	done &
done
sleep 1
dmesg -C
try 'kept space: replace under load' btrfs replace start -B -f -K 1 /dev/labdf "$LAB_MNT"
touch /tmp/stop
wait
diag "$(dmesg)"
try 'kept space: writable' lab_writable
try 'kept space: unmount' umount "$LAB_MNT"
try 'kept space: btrfs check' btrfs check /dev/labdc

# What usage says of a device for metadata that is filling up.
filling() {
	btrfs device policy usage "$LAB_MNT" | grep 'allocated; add'
}

# listen: the uevents of btrfs from now on, into /tmp/events
listen() {
	perl -e 'use Socket; socket(my $s, 16, SOCK_RAW, 15) or die; bind($s, pack("SSLL", 16, 0, 0, 1)) or die;
		open(my $ready, ">", "/tmp/listening"); close($ready);
		while (recv($s, my $event, 8192, 0) || 1) {
			next unless $event =~ /SUBSYSTEM=btrfs/;
			open(my $out, ">>", "/tmp/events");
			print $out join(" ", grep { /^(ACTION|BTRFS_)/ } split(/\0/, $event)), "\n";
			close($out);
		}' &
	listener=$!
	until [ -e /tmp/listening ]; do sleep 0.1; done
}

# --- free space below the minimum: all but 36 MiB of the SSD are taken, by data alone ---
# Preallocated, as the chunks that a write takes depend on when writeback begins. What is
# left is less than a metadata chunk there, a tenth of the device.
lab_fresh
try 'free space below the minimum: mkfs' lab_mkfs single/single /dev/labda /dev/labdc || bail_out mkfs
try 'free space below the minimum: mount' lab_mount /dev/labda
try 'free space below the minimum: data on the SSD' btrfs -q device policy tag data-only 1 "$LAB_MNT"
try 'free space below the minimum: metadata on the disk' btrfs -q device policy tag metadata-only 2 "$LAB_MNT"
fallocate -l 320M "$LAB_MNT/f"
try 'free space below the minimum: none of it on the SSD' btrfs balance start --force -m "$LAB_MNT"
taken=$(btrfs --format json device policy usage "$LAB_MNT" | jq '[.[keys[1]].devices[] | select(.devid == 1) | .size - .unallocated] | add')
in_range "$((taken >> 20))" 325 400 'free space below the minimum: MiB taken'
try 'free space below the minimum: all but 36 MiB' btrfs filesystem resize "1:$((taken + (36 << 20)))" "$LAB_MNT"
is "$(filling)" '' 'filling up: not said of a device for data'
try 'free space below the minimum: the SSD prefers metadata' btrfs -q device policy tag metadata-preferred 1 "$LAB_MNT"
try 'filling up: shown' grep -qE '^devid 1 \(metadata-preferred\) is [89][0-9]\.[0-9]+% allocated; add a device for metadata' <(filling)
try 'free space below the minimum: the disk prefers data' btrfs -q device policy tag data-preferred 2 "$LAB_MNT"
dmesg -C
listen
try 'free space below the minimum: new metadata chunks' btrfs balance start --force -m "$LAB_MNT"
is "$(widths METADATA)" 2 'free space below the minimum: spilled to the disk'
is "$(chunks METADATA | awk '$1 < 64 * 2^20')" '' 'free space below the minimum: in chunks of a size'
in_range "$(cat "$space/metadata/spilled_chunks")" 1 4 'free space below the minimum: counted'
is "$(cat "$space/data/spilled_chunks")" 0 'free space below the minimum: not as data'
is "$(dmesg | grep -c 'no space for a metadata chunk on the devices for it')" 1 'free space below the minimum: warned of once'
sleep 60
is "$(grep -c 'ACTION=change BTRFS_EVENT=spilled_chunk BTRFS_TYPE=metadata' /tmp/events)" 1 'free space below the minimum: one uevent'
kill $listener
try 'free space below the minimum: metadata on the SSD or nowhere' btrfs -q device policy tag data-only 2 "$LAB_MNT"
is "$(lab_small_files "$LAB_MNT/d" 1000000 1500 12000)" 'No space left on device' 'free space below the minimum: ENOSPC'
is "$(widths METADATA | xargs)" '1 2' 'free space below the minimum: but only after they have been used'
try 'free space below the minimum: writable' lab_writable
try 'free space below the minimum: unmount' umount "$LAB_MNT"
try 'free space below the minimum: btrfs check' btrfs check /dev/labda

# --- all but full: 25 MiB of the SSD are left, which no new chunk is put on first ---
misplaced() {
	cat "$space"/{metadata,system}/misplaced_bytes | xargs
}

said() {
	btrfs --format json device policy usage "$LAB_MNT" | jq '[.. | objects | ."misplaced-metadata-bytes", ."misplaced-system-bytes" | numbers] | add'
}

lab_fresh
try 'all but full: mkfs' lab_mkfs single/single /dev/labdc /dev/labda || bail_out mkfs
try 'all but full: mount' lab_mount /dev/labdc
try 'all but full: data on the SSD' btrfs -q device policy tag data-only 2 "$LAB_MNT"
try 'all but full: metadata on the disk' btrfs -q device policy tag metadata-only 1 "$LAB_MNT"
fallocate -l 320M "$LAB_MNT/f"
taken=$(btrfs --format json device policy usage "$LAB_MNT" | jq '[.[keys[1]].devices[] | select(.devid == 2) | .size - .unallocated] | add')
try 'all but full: 25 MiB' btrfs filesystem resize "2:$((taken + (25 << 20)))" "$LAB_MNT"
try 'all but full: the disk prefers data' btrfs -q device policy tag data-preferred 1 "$LAB_MNT"
try 'all but full: the SSD prefers metadata' btrfs -q device policy tag metadata-preferred 2 "$LAB_MNT"
is "$(misplaced)" '0 0' 'all but full: nothing is misplaced'
is "$(said)" 0 'all but full: usage says so, too'
try 'all but full: more space' btrfs filesystem resize 2:max "$LAB_MNT"
is "$(said)" "$(($(misplaced | tr ' ' +)))" 'all but full: with space, as much as usage says'
in_range "$(cat "$space/system/misplaced_bytes")" 1 $((32 << 20)) 'all but full: the system chunk is misplaced'
try 'all but full: it is moved' btrfs balance --preferred-metadata "$LAB_MNT"
is "$(misplaced)" '0 0' 'all but full: nothing is left'
try 'all but full: unmount' umount "$LAB_MNT"
try 'all but full: btrfs check' btrfs check /dev/labdc
done_testing
