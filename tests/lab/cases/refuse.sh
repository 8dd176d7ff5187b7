#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk ssd:size=1G,seed=2 --disk ssd:size=1G,seed=3
#
# The ioctl itself: what it refuses, with which error, device and reason, that
# nothing has changed then, and what --force lets through.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# The structures as kernel-abi.rst has them. roles get|set [NAME=VALUE...] [DEVID=ROLE...]:
# prints "ERRNO DEVID REASON" of a failure, "NR DEVID=ROLE..." of a get, "set" of a set.
cat > /tmp/roles <<'PERL'
use Errno;
use Fcntl;
my $args = "LLQQQLLQ8";
my $request = 3 << 30 | length(pack($args, (0) x 15)) << 16 | 0x94 << 8 | 112;
my %field = (flags => 0, reserved => 0, entry => 0);
my ($op, @words) = @ARGV;
my @entries;
for (@words) {
	my ($name, $value) = split(/=/);
	$value = oct($value) if $value =~ /^0x/;
	if ($name =~ /^\d/) {
		push(@entries, [$name, $value]);
	} else {
		$field{$name} = $value;
	}
}
my $room = pack("x262144");
substr($room, 32 * $_, 32, pack("QLLQQ", @{$entries[$_]}, 0, 0, $field{entry})) for 0 .. $#entries;
my $nr = $field{nr} // ($op eq "get" ? 16 : @entries);
my $pointer = $field{pointer} // unpack("Q", pack("P", $room));
my $call = pack($args, $op eq "set", $nr, $pointer, $field{flags}, (0) x 10, $field{reserved});
sysopen(my $dir, "/mnt", O_RDONLY) or die("/mnt: $!");
my $done = ioctl($dir, $request, $call);
my $error = (sort grep { $!{$_} } keys(%!))[0];
my (undef, $got, undef, undef, $devid, $reason) = unpack($args, $call);
if (!$done) {
	print("$error $devid $reason\n");
} elsif ($op eq "set") {
	print("set\n");
} else {
	my @got = map { [unpack("QL", substr($room, 32 * $_, 32))] } 0 .. 7;
	print(join(" ", $got, map { "$_->[0]=$_->[1]" } grep { $_->[0] } @got), "\n");
}
PERL

roles() {
	perl /tmp/roles "$@"
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
is "$(setpriv --reuid 65534 --clear-groups perl /tmp/roles set 1=1)" 'EPERM 0 0' 'another user'

is "$(roles set 1=3 2=1)" set 'two at once'
is "$(roles get)" '3 1=3 2=1 3=0' 'both'
is "$(roles set flags=1 1=2)" set 'forced'
is "$(roles set 2=0)" set 'what makes nothing worse is no reason to refuse'
is "$(roles get nr=1)" '3 1=2' 'get with too little room says how many there are'
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
