#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Scrub of one device by its ioctls, for what `btrfs scrub` cannot do in the lab:
# be cancelled at a point in time and be resumed. Prints what the kernel counted.
#	scrub.pl PATH DEVID START [CANCEL_AFTER_MS]
# READONLY=yes: nothing is repaired. FAIL_NTH=N: the kernel's Nth allocation for it fails.
use strict;
use warnings;
use Time::HiRes qw(sleep);

# struct btrfs_ioctl_scrub_args is 1024 bytes: devid, start, end, flags, counts.
use constant { SCRUB => 0xc400941b, CANCEL => 0x941c };
my @names = qw(data_extents tree_extents data_bytes tree_bytes read_errors csum_errors
	verify_errors no_csum csum_discards super_errors malloc_errors uncorrectable_errors
	corrected_errors last_physical unverified_errors);

my ($path, $devid, $start, $cancel) = @ARGV;
open(my $fs, '<', $path) or die "$path: $!\n";
my $canceller;
if (defined $cancel && !($canceller = fork)) {
	sleep($cancel / 1000);
	ioctl($fs, CANCEL, 0) or warn "cancel: $!\n";
	exit;
}
my $args = pack('Q4', $devid, $start, ~0, $ENV{READONLY} ? 1 : 0) . "\0" x 992;
if ($ENV{FAIL_NTH}) {
	open(my $nth, '>', '/proc/thread-self/fail-nth') or die "fail-nth: $!\n";
	syswrite($nth, $ENV{FAIL_NTH}) or die "fail-nth: $!\n";
	# Left open: closing it would be a call that allocates, too.
	push @main::open, $nth;
}
my $end = ioctl($fs, SCRUB, $args) ? 'finished' : $!{ECANCELED} ? 'cancelled' : "$!";
waitpid($canceller, 0) if $canceller;

my @counts = unpack('x32 Q15', $args);
print "end $end\n", map { "$names[$_] $counts[$_]\n" } 0 .. $#names;
