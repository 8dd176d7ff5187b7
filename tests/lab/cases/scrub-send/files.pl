#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Trees of files for the read-path measurements: the same names, sizes and bytes in
# every run. Owns the content only; when it is synced and snapshotted is the caller's.
#	files.pl make DIR COUNT MIN MAX     COUNT files of MIN..MAX bytes
#	files.pl touch DIR ROUND PERCENT    rewrite that share of the files
use strict;
use warnings;

my $state = 1;

# Without `use integer` products become floating point, and all numbers alike.
sub step {
	use integer;
	no warnings 'portable';
	$state = ($state * 2862933555777941757 + 3037000493) & 0x7fffffffffffffff;
	return $state;
}

# Bytes from one pool at a place of the file's own: cheap, and never two blocks alike.
my $pool = '';
while (length($pool) < (1 << 21)) {
	$pool .= pack('q', step());
}

sub draw {
	return (step() >> 20) % $_[0];
}

sub put {
	my ($name, $size) = @_;
	open(my $file, '>', $name) or die "$name: $!\n";
	for (my $done = 0; $done < $size; $done += 1 << 20) {
		my $part = $size - $done < 1 << 20 ? $size - $done : 1 << 20;
		defined syswrite($file, substr($pool, draw(1 << 20), $part)) or die "$name: $!\n";
	}
	close($file) or die "$name: $!\n";
}

# sync()
sub commit {
	syscall(162);
}

sub make {
	my ($dir, $count, $min, $max) = @_;
	for my $n (0 .. $count - 1) {
		my $sub = sprintf('%s/%03d', $dir, $n / 500);
		if ($n % 500 == 0) {
			commit();
			mkdir $sub;
		}
		put("$sub/$n", $min + draw($max - $min + 1));
	}
}

sub touch {
	my ($dir, $round, $percent) = @_;
	$state += $round << 32;
	for my $name (sort glob("$dir/*/*")) {
		put($name, -s $name) if draw(100) < $percent;
	}
}

my ($what, @arguments) = @ARGV;
$what eq 'make' ? make(@arguments) : touch(@arguments);
