#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Rubbish on disk images that no machine has open, and what became of it. The device
# extents "DEVID START LENGTH", a line each, say where chunks are; devid 1 is labda.img.
#	damage.pl write DIR STEP SHIFT DEVID... < EXTENTS	prints the places, "DEVID OFFSET"
#	damage.pl restored DIR BEFORE < PLACES			prints those that are as before
# Every STEP-th block of the first 16 MiB ($MOST_MIB) of an extent; SHIFT blocks apart between devices,
# so that with 0 the same stripes of all of them are hit.
use strict;
use warnings;
use constant { BLOCK => 4096, MOST => ($ENV{MOST_MIB} // 16) << 20 };

sub image {
	my ($mode, $dir, $devid) = @_;
	my $name = "$dir/labd" . chr(ord('a') + $devid - 1) . '.img';

	open(my $file, $mode, $name) or die "$name: $!\n";
	binmode $file;
	return $file;
}

sub block {
	my ($file, $at) = @_;

	sysseek($file, $at, 0);
	sysread($file, my $data, BLOCK);
	return $data;
}

sub write_rubbish {
	my ($dir, $step, $shift, %wanted) = (shift, shift, shift, map { $_ => 1 } @_);

	while (<STDIN>) {
		my ($devid, $start, $length) = split;
		next unless $wanted{$devid};
		my $image = image('+<', $dir, $devid);
		my $end = $length < MOST ? $length : MOST;
		for (my $at = $devid * $shift * BLOCK; $at < $end; $at += $step * BLOCK) {
			sysseek($image, $start + $at, 0);
			syswrite($image, 'damage ' x 585 . 'x') == BLOCK or die "write: $!\n";
			print "$devid ", $start + $at, "\n";
		}
	}
}

sub restored {
	my ($dir, $before) = @_;

	while (<STDIN>) {
		my ($devid, $at) = split;
		print if block(image('<', $dir, $devid), $at) eq block(image('<', $before, $devid), $at);
	}
}

my ($what, @arguments) = @ARGV;
$what eq 'write' ? write_rubbish(@arguments) : restored(@arguments);
