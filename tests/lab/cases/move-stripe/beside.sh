#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=6G,seed=1 --disk ssd:size=6G,seed=2 --disk ssd:size=6G,seed=3 --disk hdd:size=6G,seed=4
# machines: raid1
# machines at night: raid5
#
# Stripes move to and fro beside writers in place and in new blocks, fsync, snapshots, scrub and trim: each file has what was
# written last, and the trees are right.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"

# writer FILE SEED: writes blocks anywhere in the file and in a copy in memory, until /tmp/stop is there
writer() {
	perl -MFcntl -MIO::Handle -e 'my ($name, $seed) = @ARGV;
		srand($seed);
		open(my $file, "+<", $name) or die;
		open(my $copy, "+<", "/tmp/copy$seed") or die;
		for (my $n = 0; ! -e "/tmp/stop"; $n++) {
			my $at = 4096 * int(rand(3000));
			my $data = pack("Q", rand(1 << 52)) x (512 * (1 + int(rand(4))));
			for my $out ($file, $copy) {
				sysseek($out, $at, 0);
				syswrite($out, $data) == length($data) or die("$name: $!");
			}
			$file->sync or die("fsync: $!") if $n % 20 == 0;
			print("$n\n") if $n % 1000 == 0;
		}' "$1" "$2"
}

snapshots() {
	local n

	for n in $(seq 1000); do
		[ ! -e /tmp/stop ] || break
		btrfs -q subvolume snapshot "$LAB_MNT" "$LAB_MNT/snapshot$n" || return
		[ "$n" -le 3 ] || btrfs -q subvolume delete "$LAB_MNT/snapshot$((n - 3))" || return
		lab_small_files "$LAB_MNT/small$((n % 4))" 100 1000 >/dev/null
		sleep 0.1
	done
}

scrubs() {
	while [ ! -e /tmp/stop ]; do
		lab_scrub || return
		fstrim "$LAB_MNT"
	done
}

profile=$1
try mkfs lab_mkfs "$profile/$profile" $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
# A device without stripes of a chunk for each of RAID5.
[ "$profile" != raid5 ] || { umount "$LAB_MNT" && lab_wipe $(lab_disks) && lab_mkfs raid5/raid5 /dev/labda /dev/labdb /dev/labdc && lab_mount /dev/labda && btrfs device add -f /dev/labdd "$LAB_MNT"; }
touch "$LAB_MNT/nocow" "$LAB_MNT/cow"
chattr +C "$LAB_MNT/nocow"
for f in nocow cow; do
	lab_fill "$LAB_MNT/$f" 12
done
cp "$LAB_MNT/nocow" /tmp/copy1
cp "$LAB_MNT/cow" /tmp/copy2
sync
writer "$LAB_MNT/nocow" 1 >/tmp/writer1 2>&1 &
writer "$LAB_MNT/cow" 2 >/tmp/writer2 2>&1 &
snapshots >/tmp/snapshots 2>&1 &
snapshotter=$!
scrubs >/tmp/scrubs 2>&1 &
scrubber=$!
moved=0 refused=
for round in 1 2 3; do
	while read -r chunk stripe _ && [ $round -le 3 ]; do
		target=$(vacant /dev/labda "$chunk" 4 | shuf -n 1 --random-source=/dev/labda)
		[ -n "$target" ] || continue
		if "$move" start "$chunk:$stripe:$target" >/tmp/moved 2>&1; then
			moved=$((moved + 1))
		else
			refused+=" $(head -n 1 /tmp/moved)"
		fi
	done < <(stripes /dev/labda)
done
touch /tmp/stop
wait $scrubber
result $? 'scrub found no error' /tmp/scrubs
wait $snapshotter
result $? snapshots /tmp/snapshots
wait
diag "moved $moved, refused:$refused; writes $(tail -n 1 /tmp/writer1) $(tail -n 1 /tmp/writer2)"
in_range $moved 10 1000 'stripes moved'
is "$(sed 's/ ENOENT no-chunk//g; s/ EEXIST target-has-stripe//g; s/ ENOSPC n[a-z-]*//g' <<<"$refused")" '' 'no other was refused than of chunks that are gone or others now, or have no space'
in_range "$(tail -n 1 /tmp/writer1)" 1 1e9 'writes in place'
in_range "$(tail -n 1 /tmp/writer2)" 1 1e9 'writes in new blocks'
lab_drop_caches
is "$(lab_sum "$LAB_MNT/nocow" "$LAB_MNT/cow" | xargs)" "$(lab_sum /tmp/copy1 /tmp/copy2 | xargs)" contents
try scrub lab_scrub
try 'writable' lab_writable
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda
done_testing
