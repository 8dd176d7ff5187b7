#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3 --disk hdd:size=2G,seed=4
# machines: sysfs race replace
# machines at night: ioctl add-fails shrink
#
# Roles of a device change while the device is removed, added, replaced or shrunk.
# Every step ends as it would without, a writer gets 0 or one of a few errors, and
# never are too few devices left. KASAN looks on: LAB_CONFIG=uml-debug.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
machine=$1
info=$(lab_sysfs)/devinfo

# Writes of one role after the other to devid $1, 10 ms apart, until /tmp/stop; counts what they said.
sysfs_writer() {
	perl -MErrno -MFcntl -e 'my ($file, %said) = ($ARGV[0]);
		until (-e "/tmp/stop") {
			for my $role ("metadata-preferred", "data-preferred", "metadata-only", "data-only") {
				my $handle;
				my $done = sysopen($handle, $file, O_WRONLY) && defined(syswrite($handle, $role));
				$said{$done ? "taken" : (sort grep { $!{$_} } keys(%!))[0]}++;
				close($handle) if $handle;
				select(undef, undef, undef, 0.01);
			}
		}
		print("$_ $said{$_}\n") for sort(keys(%said))' "$info/$1/role" >"/tmp/said$1"
}

# The same by the ioctl, as kernel-abi.rst has it, which also commits.
ioctl_writer() {
	perl -MErrno -MFcntl -e 'my ($devid, $mount, %said) = @ARGV;
		until (-e "/tmp/stop") {
			for my $role (1, 0, 3, 2) {
				my $entry = pack("QLLQQ", $devid, $role, (0) x 3);
				my $args = pack("LLQQQLLQ8", 1, 1, unpack("Q", pack("P", $entry)), (0) x 12);
				sysopen(my $dir, $mount, O_RDONLY) or die("$mount: $!");
				my $done = ioctl($dir, 3 << 30 | length($args) << 16 | 0x94 << 8 | 112, $args);
				$said{$done ? "taken" : (sort grep { $!{$_} } keys(%!))[0]}++;
				select(undef, undef, undef, 0.01);
			}
		}
		print("$_ $said{$_}\n") for sort(keys(%said))' "$1" "$LAB_MNT" >"/tmp/said$1"
}

# all_writers WRITER DEVID...
all_writers() {
	local devid

	rm -f /tmp/stop /tmp/said*
	for devid in "${@:2}"; do
		"$1" "$devid" &
	done
}

# Files come and go, so that every commit has something to do before it stops others. The
# pauses bound what the host has to do for a second of the machine's time.
load() {
	local n

	for n in 1 2 3; do
		(while [ ! -e /tmp/stop ]; do
			[ "$(lab_small_files "$LAB_MNT/w$n" 60 1500 3000)" = all ] &&
				dd if=/dev/zero of="$LAB_MNT/b$n" bs=64k count=10 conv=fsync && echo written
			rm -rf "$LAB_MNT/w$n"
			sleep 0.1
		done) >"/tmp/load$n" 2>/dev/null &
	done
}

# end_writers NAME WANTED_ERRORS
end_writers() {
	touch /tmp/stop
	wait
	diag "$1: $(cat /tmp/said* | awk '{ n[$1] += $2 } END { for (e in n) print e, n[e] }' | sort | xargs)"
	is "$(cat /tmp/said* | cut -d' ' -f1 | sort -u | grep -vxE "$2")" '' "$1: writers see no other error"
	in_range "$(cat /tmp/said* | awk '$1 == "taken" { n += $2 } END { print n }')" 1 1e9 "$1: roles were set"
}

# The file system is what it was, and the next kernel finds what this one showed.
end() {
	local roles

	try "$machine: writable" lab_writable
	lab_drop_caches
	is "$(lab_sum "$LAB_MNT/f")" "$sum" "$machine: contents"
	sync
	roles=$(grep -o '\[.*\]' "$info"/*/role)
	try "$machine: unmount" umount "$LAB_MNT"
	btrfs device scan >/dev/null
	try "$machine: mount" lab_mount /dev/labdb
	is "$(grep -o '\[.*\]' "$info"/*/role)" "$roles" "$machine: roles are stored"
	try "$machine: unmount again" umount "$LAB_MNT"
	try "$machine: btrfs check" btrfs check --check-data-csum /dev/labdb
}

# remove_and_add N: device labda comes as devid 4 and goes, at ever other times of the writer's.
remove_and_add() {
	local n

	for n in $(seq "$1"); do
		btrfs device add -f -K /dev/labda "$LAB_MNT" || { echo "add, round $n"; return 1; }
		sleep "0.0$((n * 7 % 10))$((n * 3 % 10))"
		btrfs device remove /dev/labda "$LAB_MNT" || { echo "remove, round $n"; return 1; }
	done
}

# Which of the two comes first is up to the kernel: a removal that leaves devid 1 as the only one for
# data, and the role that lets it take none. After both, data has a device. The role waits for the
# commits that the roles before it have begun.
removal_or_role() {
	local n removed set both=0 neither=0

	for n in $(seq 12); do
		echo metadata-preferred >"$info/1/role"
		btrfs device add -f -K /dev/labda "$LAB_MNT" || return
		echo data-only >"$info/4/role" || return
		echo metadata-only >"$info/2/role" || return
		echo metadata-only >"$info/3/role" || return
		(sleep "$(awk -v n="$n" 'BEGIN { print n * 0.04 }')"
		lab_store "$info/1/role" <<<metadata-only >/tmp/set) &
		sleep 0.25
		btrfs device remove /dev/labda "$LAB_MNT" 2>/tmp/why
		removed=$?
		wait
		set=$(cat /tmp/set)
		echo "$removed $set" >>/tmp/races
		[ $removed = 0 ] && [ "$set" = taken ] && both=$((both + 1))
		[ $removed != 0 ] && [ "$set" != taken ] && neither=$((neither + 1))
		echo data-preferred >"$info/1/role"
		[ $removed = 0 ] || btrfs device remove /dev/labda "$LAB_MNT" || return
	done
	echo "both $both neither $neither" >/tmp/race
}

# In the race data needs one device.
profile=raid1
[ "$machine" != race ] || profile=single
try "$machine: mkfs" lab_mkfs $profile/raid1 /dev/labdb /dev/labdc /dev/labdd || bail_out mkfs
# A commit discards when its super blocks are written, which takes a while.
try "$machine: mount" lab_mount /dev/labdb discard=sync || bail_out mount
lab_fill "$LAB_MNT/f" 60
sum=$(lab_sum "$LAB_MNT/f")
dmesg -C
case $machine in
sysfs)
	all_writers sysfs_writer 4
	load
	try "$machine: 20 times added and removed" remove_and_add 20
	end_writers "$machine" 'taken|ENOENT|ENODEV|EBUSY|EAGAIN'
	in_range "$(cat /tmp/load? | grep -c written)" 3 1e6 "$machine: rounds of the load" ;;
ioctl)
	all_writers ioctl_writer 4
	load
	try "$machine: 8 times added and removed" remove_and_add 8
	end_writers "$machine" 'taken|ENODEV|EBUSY|EAGAIN'
	in_range "$(cat /tmp/load? | grep -c written)" 3 1e6 "$machine: rounds of the load" ;;
race)
	try "$machine: removals beside roles" removal_or_role
	diag "status of the removal, and the role: $(sort /tmp/races | uniq -c | xargs)"
	is "$(cat /tmp/race)" 'both 0 neither 0' "$machine: each time one of the two is refused" ;;
replace)
	all_writers sysfs_writer 1 2 3
	try "$machine: there" btrfs replace start -B -f -K 3 /dev/labda "$LAB_MNT"
	try "$machine: and back" btrfs replace start -B -f -K 3 /dev/labdd "$LAB_MNT"
	end_writers "$machine" 'taken|EINVAL|ENOENT|ENODEV|EBUSY|EAGAIN' ;;
add-fails)
	all_writers sysfs_writer 1 2 3 4 5
	failed=0
	for n in 1 2 3 4 5; do
		# Written to by the add, and gone before it has ended.
		(sleep "0.0$n"; lab_power /dev/labda cut) &
		btrfs device add -f -K /dev/labda "$LAB_MNT" >/dev/null 2>&1 || failed=$((failed + 1))
		wait %+ 2>/dev/null
		lab_power /dev/labda on
		btrfs device remove /dev/labda "$LAB_MNT" >/dev/null 2>&1
	done
	in_range $failed 1 5 "$machine: devices that could not be added"
	end_writers "$machine" 'taken|EINVAL|ENOENT|ENODEV|EBUSY|EAGAIN|EIO' ;;
shrink)
	all_writers sysfs_writer 1 2 3
	for n in 1 2 3; do
		try "$machine: smaller" btrfs filesystem resize 2:1200M "$LAB_MNT"
		try "$machine: larger" btrfs filesystem resize 2:max "$LAB_MNT"
	done
	end_writers "$machine" 'taken|EINVAL|ENODEV|EBUSY|EAGAIN' ;;
esac
end
done_testing
