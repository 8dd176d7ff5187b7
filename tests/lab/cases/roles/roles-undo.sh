#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --allow WARNING:.*btrfs_space_info_update_bytes_may_use --disk ssd:size=300M,seed=1 --disk ssd:size=300M,seed=2 --disk ssd:size=300M,seed=3 --disk ssd:size=300M,seed=4
#
# The roles of four devices are set while one allocation after the other fails, and
# chunks are allocated meanwhile: all roles are set or none, in memory, in the chunk
# tree and in the super blocks. For a kernel whose allocations can fail:
# LAB_CONFIG=uml-debug.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
[ -e /proc/self/fail-nth ] || skip_all 'allocations cannot fail in this kernel; LAB_CONFIG=uml-debug'

# set_with_fault N ROLE: the ioctl for devids 1 to 4 with its Nth allocation failing;
# "done" or the error, and how often one failed
set_with_fault() {
	perl -MErrno -MFcntl -e 'my ($n, $role, $mount) = @ARGV;
		my $entries = join("", map { pack("QLLQQ", $_, $role, (0) x 3) } 1 .. 4);
		my $args = pack("LLQQQLLQ8", 1, 4, unpack("Q", pack("P", $entries)), (0) x 12);
		my $request = 3 << 30 | length($args) << 16 | 0x94 << 8 | 112;
		my %names = map { ($! = Errno->can($_)->()) + 0 => $_ } keys(%!);
		my $error = 0;
		sysopen(my $dir, $mount, O_RDONLY) or die("$mount: $!");
		sysopen(my $fault, "/proc/self/fail-nth", O_RDWR) or die("fail-nth: $!");
		my $left = "x" x 16;
		syswrite($fault, $n);
		ioctl($dir, $request, $args) or $error = $! + 0;
		sysseek($fault, 0, 0);
		sysread($fault, $left, 16);
		syswrite($fault, "0");
		print($error ? $names{$error} : "done", " ", $left + 0 == 0 ? "failed" : "untouched", "\n")' "$1" "$2" "$LAB_MNT"
}

# The role's number in memory, in the chunk tree and in the super blocks: one if all agree.
all_roles() {
	{
		"$(dirname "$LAB_LIB")/roles-ioctl" get | tr ' ' '\n' | sed -n 's/.*=//p'
		sync
		btrfs inspect-internal dump-tree -t chunk /dev/labda |
			awk '/DEV_ITEMS DEV_ITEM/ { mine = 1 } mine && $(NF - 1) == "type" { print $NF; mine = 0 }'
		for d in $(lab_disks); do
			btrfs inspect-internal dump-super -f "$d" | awk '$1 == "dev_item.type" { print $2 }'
		done
	} | sort -u | xargs
}

try mkfs lab_mkfs raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
mount -t debugfs debugfs /sys/kernel/debug
for what in failslab fail_page_alloc; do
	echo N >/sys/kernel/debug/$what/ignore-gfp-wait
done
echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
role=0 n=0 untouched=0 failed=0 aborted=0 bad=0
while [ $untouched -lt 3 ] && [ $n -lt "${LAB_FAULTS:-120}" ]; do
	n=$((n + 1))
	# Device items that a new chunk writes, in the same transaction.
	fallocate -l 60M "$LAB_MNT/f"
	rm "$LAB_MNT/f"
	read -r status fault < <(set_with_fault $n $((1 - role)))
	[ "$status" = done ] && role=$((1 - role)) || failed=$((failed + 1))
	[ "$fault" = untouched ] && untouched=$((untouched + 1))
	if ! grep -q " $LAB_MNT btrfs rw" /proc/mounts; then
		# The commit itself had no memory: what is on disk is what was before it.
		aborted=$((aborted + 1))
		umount "$LAB_MNT"
		lab_mount /dev/labda || break
	fi
	if [ "$(all_roles)" != $role ]; then
		bad=$((bad + 1))
		diag "allocation $n: $status: roles $(all_roles), wanted $role"
		role=$("$(dirname "$LAB_LIB")/roles-ioctl" get | sed 's/.*=//')
	fi
done
diag "$n allocations failed, $failed of them ended the call, $aborted the transaction"
in_range $failed 3 1000 'an allocation that fails ends the call'
is $bad 0 'all roles or none'
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
