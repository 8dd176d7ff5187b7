#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=512M,seed=1,volatile=1 --disk hdd:size=1G,seed=2,volatile=1 --disk hdd:size=1G,seed=3,volatile=1
# lab: --disk ssd:size=600M,seed=4,volatile=1 --disk ssd:size=600M,seed=5,volatile=1
# lab: --allow WARNING:.*btrfs_dev_replace_finishing
#
# The role in the life of a device: added with one while others write, replaced,
# with a power cut in between too (of which the kernel warns), shrunk, removed;
# profiles converted; a seed.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
info=$(lab_sysfs)/devinfo

role() {
	sed 's/.*\[\(.*\)\].*/\1/' "$info/$1/role"
}

# Devids that hold chunks of the kind.
where() {
	lab_chunks "${2:-/dev/labdb}" | grep "^$1" | cut -d' ' -f4- | xargs -n1 | sort -u | xargs
}

# add_with_role ROLE_NUMBER DEVICE [FLAGS]: the ioctl as kernel-abi.rst has it; "taken" or the error
add_with_role() {
	perl -MErrno -MFcntl -e 'my ($role, $path, $flags, $mount) = @ARGV;
		my $name = "$path\0";
		my $args = pack("QLLQ6", unpack("Q", pack("P", $name)), $role, $flags, (0) x 6);
		sysopen(my $dir, $mount, O_RDONLY) or die("$mount: $!");
		my $done = ioctl($dir, 1 << 30 | length($args) << 16 | 0x94 << 8 | 113, $args);
		print $done ? "taken" : (sort grep { $!{$_} } keys %!)[0], "\n"' "$1" "$2" "${3:-0}" "$LAB_MNT"
}

# Small and large files, until /tmp/stop.
writer() {
	while [ ! -e /tmp/stop ]; do
		[ "$(lab_small_files "$LAB_MNT/w" 40 3000)" = all ] &&
			dd if=/dev/zero of="$LAB_MNT/b" bs=1M count=80 conv=fsync && echo written
		rm -rf "$LAB_MNT/w" "$LAB_MNT/b"
	done >/tmp/load 2>/dev/null
}

# --- device add ---
try mkfs lab_mkfs single/single /dev/labdb /dev/labdc || bail_out mkfs
try mount lab_mount /dev/labdb || bail_out mount
writer &
sleep 1
is "$(add_with_role 4 /dev/labda)" EINVAL 'add with role: no such role'
is "$(add_with_role 3 /dev/labda 1)" EINVAL 'add with role: unknown flag'
is "$(add_with_role 3 /dev/nothing)" ENOENT 'add with role: no such device'
is "$(add_with_role 3 /dev/labda)" taken 'add with role: metadata-only, under load'
is "$(add_with_role 2 /dev/labdd)" taken 'add with role: data-only, under load'
is "$(role 3) $(role 4)" 'metadata-only data-only' 'add with role: they have it at once'
sleep 3
touch /tmp/stop
wait
in_range "$(grep -c written /tmp/load)" 1 1e6 'add with role: rounds of the load'
lab_fill "$LAB_MNT/f" 300
try 'add with role: metadata moves' btrfs balance start -m "$LAB_MNT"
is "$(where DATA | grep -c '^[^3]\+$')" 1 'add with role: not one data chunk on the metadata-only device'
is "$(where 'METADATA\|SYSTEM')" 3 'add with role: metadata on no other'

# --- device replace ---
sum=$(lab_sum "$LAB_MNT/f")
try 'replace: SSD by SSD' btrfs replace start -f -K -B 3 /dev/labde "$LAB_MNT"
is "$(role 3)" metadata-only 'replace: the new device has the role'
umount "$LAB_MNT"
try 'replace: mount again' lab_mount /dev/labdb
is "$(role 3)" metadata-only 'replace: kept by the next mount'
is "$(btrfs inspect-internal dump-super -f /dev/labde | awk '$1 == "dev_item.type" { print $2 }')" 2 'replace: in the super block too'

# Data on the one that is replaced, so that it takes a while.
try 'replace and power cut: it fits' btrfs filesystem resize 4:500M "$LAB_MNT"
try 'replace and power cut: no data elsewhere' btrfs -q device policy tag metadata-only 1 2 "$LAB_MNT"
try 'replace and power cut: data on it' lab_fill "$LAB_MNT/g" 300
btrfs replace start -B -f -K 4 /dev/labda "$LAB_MNT" >/dev/null 2>&1 &
sleep 0.4
is "$(btrfs replace status -1 "$LAB_MNT" | grep -c '% done')" 1 'replace and power cut: it is under way'
for d in $(lab_disks); do lab_power "$d" cut; done
wait
umount "$LAB_MNT"
for d in $(lab_disks); do lab_power "$d" on; done
btrfs device scan --forget
btrfs device scan >/dev/null
try 'replace and power cut: mount' lab_mount /dev/labdb
is "$(btrfs replace status "$LAB_MNT" | grep -c 'finished on')" 1 'replace and power cut: and then done'
is "$(role 4)" data-only 'replace and power cut: the role is what it was'
is "$(lab_sum "$LAB_MNT/f")" "$sum" 'replace and power cut: contents'
rm "$LAB_MNT/g"
try 'replace and power cut: data everywhere' btrfs -q device policy tag data-preferred 1 2 "$LAB_MNT"
dmesg -C

# --- too few devices, with a reason ---
reason() {
	dmesg | grep -o "$1"
	dmesg -C
}

try 'remove: only one device for metadata' btrfs -q device policy tag data-only 1 2 "$LAB_MNT"
refuse 'remove: it' btrfs device remove 3 "$LAB_MNT"
is "$(reason 'cannot remove devid 3: by their roles, too few devices left for the metadata profile')" \
	'cannot remove devid 3: by their roles, too few devices left for the metadata profile' 'remove: the reason'
refuse 'convert: RAID1 metadata with one device for it' btrfs balance start --force -mconvert=raid1 "$LAB_MNT"
is "$(reason 'needs 2 devices, roles leave 1' | head -1)" 'needs 2 devices, roles leave 1' 'convert: the reason'
try 'convert: RAID1 data on the others' btrfs balance start --force -dconvert=raid1 "$LAB_MNT"
is "$(where DATA | grep -c '^[^3]\+$')" 1 'convert: not on the metadata-only device'
try 'convert: and back' btrfs balance start --force -dconvert=single "$LAB_MNT"
try 'remove: another one' btrfs device remove 4 "$LAB_MNT"
is "$(where DATA | grep -c '^[^3]\+$')" 1 'remove: its data did not go to the metadata-only device'

# --- shrink ---
# In extents that fit into any chunk, which is a tenth of what there is at most.
rm "$LAB_MNT/f"
for i in $(seq 30); do lab_fill "$LAB_MNT/f$i" 10 "$i"; done
sync
try 'shrink: metadata may be on the disks' btrfs -q device policy tag data-preferred 1 2 3 "$LAB_MNT"
try 'shrink: but not on the SSD' btrfs -q device policy tag data-only 3 "$LAB_MNT"
try 'shrink: it moves' btrfs balance start -m "$LAB_MNT"
is "$(where 'METADATA\|SYSTEM' | grep -c '^[^3]\+$')" 1 'shrink: there it is'
try 'shrink: the SSD prefers metadata' btrfs -q device policy tag metadata-preferred 3 "$LAB_MNT"
for id in 1 2; do
	try "shrink: disk $id" btrfs filesystem resize "$id:300M" "$LAB_MNT"
done
is "$(where METADATA)" 3 'shrink: metadata has gone to the SSD'
try 'shrink: writable' lab_writable
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labdb

# --- seed and sprout ---
lab_fresh
try 'seed: mkfs' lab_mkfs single/single /dev/labdb
try 'seed: fill' eval 'lab_mount /dev/labdb && lab_fill "$LAB_MNT/f" 50 && umount "$LAB_MNT"'
try 'seed: make' btrfstune -f -S 1 /dev/labdb
mount -t btrfs -o ro /dev/labdb "$LAB_MNT" 2>/dev/null
dmesg -C
is "$(add_with_role 3 /dev/labda)" EINVAL 'sprout: not on a metadata-only device'
is "$(reason 'the first one of a sprout cannot exclude a kind')" 'the first one of a sprout cannot exclude a kind' 'sprout: the reason'
is "$(add_with_role 1 /dev/labda)" taken 'sprout: on a metadata-preferred device'
try 'sprout: writable' mount -o remount,rw "$LAB_MNT"
lab_fill "$LAB_MNT/g" 50
sync
try 'sprout: unmount' umount "$LAB_MNT"
btrfs device scan >/dev/null
try 'sprout: mount' mount -t btrfs /dev/labda "$LAB_MNT"
is "$(grep -ho '\[.*\]' /sys/fs/btrfs/*/devinfo/2/role)" '[metadata-preferred]' 'sprout: the role is kept'
try 'sprout: unmount again' umount "$LAB_MNT"
try 'sprout: btrfs check' btrfs check /dev/labda
done_testing
