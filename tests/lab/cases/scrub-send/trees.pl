#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Kinds of trees for full send, one subvolume each, with the same names, sizes and bytes in every
# run of a seed. All grow together, in four rounds with a commit after each kind. Read-only
# snapshots of them are in DIR/snap/KIND.
#	trees.pl DIR SEED twelve|many	twelve kinds, or four of many small files
use strict;
use warnings;
use Fcntl;

use constant {
	ROUNDS => 4,
	BLOCK => 4096,
	# Little endian and 64 bit, as the lab is.
	FICLONERANGE => 0x4020940d,
	SYNC => 162,
	SETXATTR => 188,
	FALLOCATE => 285,
};

my ($dir, $seed, $which) = @ARGV;
my $state = $seed;

# Without `use integer` products become floating point, and all numbers alike.
sub step {
	use integer;
	no warnings 'portable';
	$state = ($state * 2862933555777941757 + 3037000493) & 0x7fffffffffffffff;
	return $state;
}

sub draw {
	return (step() >> 20) % $_[0];
}

my $pool = '';
while (length($pool) < (1 << 21)) {
	$pool .= pack('q', step());
}

sub bytes {
	my $size = shift;
	my $all = '';
	while ($size > 0) {
		my $part = $size < 1 << 20 ? $size : 1 << 20;
		$all .= substr($pool, draw(1 << 20), $part);
		$size -= $part;
	}
	return $all;
}

sub commit {
	syscall(SYNC);
}

sub run {
	system(@_) == 0 or die "@_\n";
}

sub opened {
	sysopen(my $file, $_[0], O_RDWR | O_CREAT) or die "$_[0]: $!\n";
	return $file;
}

sub write_at {
	my ($file, $at, $data) = @_;
	sysseek($file, $at, 0);
	defined syswrite($file, $data) or die "write: $!\n";
}

sub put {
	my ($name, $data) = @_;
	my $file = opened($name);
	write_at($file, 0, $data);
	return $file;
}

# clone FROM AT TO AT LENGTH
sub clone {
	my ($from, $from_at, $to, $to_at, $length) = @_;
	my $range = pack('q4', fileno($from), $from_at, $length, $to_at);
	defined ioctl($to, FICLONERANGE, $range) or die "clone: $!\n";
}

sub punch {
	my ($file, $at, $length) = @_;
	syscall(FALLOCATE, fileno($file), 3, $at, $length) == 0 or die "punch: $!\n";
}

# Files and four copies of each, in directories of their own.
sub reflinks {
	my ($in, $round) = @_;
	for my $n (0 .. 3) {
		my $from = put("$in/$n", bytes((1 << 19) + draw(1 << 19)));
		for my $copy (1 .. 4) {
			mkdir "$in/copy$copy";
			clone($from, 0, opened("$in/copy$copy/$n"), 0, 0);
		}
	}
}

# Files of blocks of 32 KiB, two of three of which some file before has as well.
my @blocks;
sub dedupe {
	my ($in, $round) = @_;
	for my $n (0 .. 23) {
		my $file = opened("$in/$n");
		for my $at (map { $_ << 15 } 0 .. draw(16)) {
			if (@blocks && draw(3)) {
				my ($name, $there) = @{$blocks[draw(scalar @blocks)]};
				clone(opened($name), $there, $file, $at, 1 << 15);
			} else {
				write_at($file, $at, bytes(1 << 15));
				push @blocks, ["$in/$n", $at];
			}
		}
	}
}

sub sparse {
	my ($in, $round) = @_;
	for my $n (0 .. 7) {
		my $file = opened("$in/$n");
		my $size = 1 << (18 + draw(6));
		truncate($file, $size);
		for (0 .. 15) {
			write_at($file, draw($size / BLOCK) * BLOCK, bytes(BLOCK));
		}
	}
}

sub compressed {
	my ($in, $round) = @_;
	for my $n (0 .. 29) {
		my $line = unpack('h*', bytes(200));
		put("$in/$n", $line x (1 + draw(1000)));
	}
}

sub inline {
	my ($in, $round) = @_;
	for my $n (0 .. 1499) {
		put("$in/$n", bytes(100 + draw(1900)));
	}
}

# Punched, preallocated and at the end.
sub holes {
	my ($in, $round) = @_;
	for my $n (0 .. 15) {
		my $blocks = 16 + draw(112);
		my $file = put("$in/$n", bytes($blocks * BLOCK));
		commit() if $n % 8 == 0;
		for (0 .. $blocks / 16) {
			punch($file, draw($blocks) * BLOCK, 2 * BLOCK);
		}
		# FALLOC_FL_KEEP_SIZE
		syscall(FALLOCATE, fileno($file), 1, $blocks * BLOCK, 1 << 18);
		truncate($file, ($blocks + 32) * BLOCK) if $n % 3 == 0;
	}
}

sub links {
	my ($in, $round) = @_;
	for my $n (0 .. 99) {
		put("$in/$n", bytes(1 + draw(16384)));
		for my $link (1 .. 20) {
			mkdir "$in/link$link";
			link("$in/$n", "$in/link$link/another-name-of-$n");
		}
	}
}

sub xattrs {
	my ($in, $round) = @_;
	for my $n (0 .. 199) {
		my $file = "$in/$n";
		put($file, bytes(1 + draw(8192)));
		for my $name (map { "user.name$_" } 1 .. 4) {
			my $value = bytes(1 + draw(800));
			syscall(SETXATTR, $file, $name, $value, length($value), 0) == 0 or die "xattr: $!\n";
		}
	}
}

sub deep {
	my ($in, $round) = @_;
	for my $way (0 .. 3) {
		my $at = "$in/$way";
		mkdir $at;
		for my $level (0 .. 39) {
			$at .= "/level$level";
			mkdir $at;
			put("$at/file", bytes(1 + draw(12000)));
		}
	}
}

sub huge {
	my ($in, $round) = @_;
	put("$in/huge", bytes(24 << 20)) if $round % 2 == 0;
}

# Blocks written out of order and in several transactions.
sub fragmented {
	my ($in, $round) = @_;
	my @files = map { opened("$in/$_") } 0 .. 7;
	for my $n (0 .. 255) {
		write_at($files[draw(8)], draw(160) * BLOCK, bytes(BLOCK));
		commit() if $n % 64 == 0;
	}
}

# Each one is changed and a snapshot of the one before, and old ones are kept.
sub nested {
	my ($in, $round) = @_;
	for my $n (0 .. 249) {
		put("$in/$n", bytes(1 + draw(8192))) if !$round || draw(3) == 0;
	}
	run('btrfs', '-q', 'subvolume', 'snapshot', $in, "$dir/old$round");
	for my $n (0 .. 249) {
		put("$dir/old$round/$n", bytes(1 + draw(8192))) if draw(4) == 0;
	}
}

sub tiny {
	my ($in, $round) = @_;
	for my $n (0 .. 3999) {
		mkdir "$in/" . int($n / 500) if $n % 500 == 0;
		put("$in/" . int($n / 500) . "/$n", bytes(BLOCK));
	}
}

sub small {
	my ($in, $round) = @_;
	for my $n (0 .. 119) {
		put("$in/$n", bytes(BLOCK + draw(63 * BLOCK)));
	}
}

# A third of all files is rewritten in each round, and a snapshot keeps the old ones.
sub rewritten {
	my ($in, $round) = @_;
	my $all = $in =~ s/\/\d+$//r;
	run('btrfs', '-q', 'subvolume', 'snapshot', '-r', $all, "$dir/before$round");
	for my $name (sort glob("$all/*/*/*")) {
		put($name, bytes(BLOCK)) if draw(3) == 0;
	}
	tiny($in, $round);
}

sub inlines {
	my ($in, $round) = @_;
	for my $n (0 .. 5999) {
		mkdir "$in/" . int($n / 500) if $n % 500 == 0;
		put("$in/" . int($n / 500) . "/$n", bytes(1000 + draw(1000)));
	}
}

my %sets = (
	twelve => [[reflinks => \&reflinks], [dedupe => \&dedupe], [sparse => \&sparse],
		[compressed => \&compressed], [inline => \&inline], [holes => \&holes], [links => \&links],
		[xattrs => \&xattrs], [deep => \&deep], [huge => \&huge],
		[fragmented => \&fragmented], [nested => \&nested]],
	many => [[tiny => \&tiny], [small => \&small], [rewritten => \&rewritten], [inlines => \&inlines]],
);
my @kinds = @{$sets{$which}};

mkdir "$dir/snap";
for my $round (0 .. ROUNDS - 1) {
	for (@kinds) {
		my ($kind, $grow) = @$_;
		my $in = "$dir/$kind";
		run('btrfs', '-q', 'subvolume', 'create', $in) if !$round;
		run('btrfs', 'property', 'set', $in, 'compression', 'zstd') if $kind eq 'compressed' && !$round;
		# What grows in place is in the subvolume itself.
		$in = "$dir/old" . ($round - 1) if $kind eq 'nested' && $round;
		if ($kind !~ /nested|fragmented|huge/) {
			$in .= "/$round";
			mkdir $in;
		}
		$grow->($in, $round);
		commit();
	}
}
for (@kinds) {
	my ($kind) = @$_;
	my $from = $kind eq 'nested' ? "$dir/old" . (ROUNDS - 1) : "$dir/$kind";
	run('btrfs', '-q', 'subvolume', 'snapshot', '-r', $from, "$dir/snap/$kind");
	# It goes on after what is sent.
	rewritten("$dir/rewritten/0", ROUNDS) if $kind eq 'rewritten';
}
