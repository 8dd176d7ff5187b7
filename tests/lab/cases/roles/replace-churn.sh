#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=200M,seed=1 --disk ssd:size=200M,seed=2 --disk hdd:size=4G,seed=3 --disk hdd:size=4G,seed=4
# lab: --disk ssd:size=200M,seed=5
#
# The block groups of a dead metadata-only SSD stay writeable while a slow replace
# fills a new one. Their tree blocks are freed and used again, commit after commit, and
# what is copied is never an older one than what is written.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# Each round changes leaves all over the trees, so that their blocks move.
churn() {
	perl -e 'my ($dir) = @ARGV;
		for (my $round = 0; !-e "/tmp/stop"; $round++) {
			for my $n (0 .. 99) {
				utime($round, $round, "$dir/" . (1 + ($n * 997 + $round * 37) % 6000));
			}
			open(my $handle, "<", $dir) or die;
			# syncfs()
			syscall(306, fileno($handle));
		}' "$LAB_MNT/small"
}

try mkfs lab_mkfs raid1/raid1 /dev/labda /dev/labdb /dev/labdc /dev/labdd || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'SSDs for metadata' btrfs -q device policy tag metadata-only nonrotational "$LAB_MNT"
try 'hard disks for data' btrfs -q device policy tag data-only rotational "$LAB_MNT"
try 'chunks follow' btrfs balance --preferred-metadata "$LAB_MNT"
# Until it is full, so that what a commit frees is used again by the next one.
is "$(lab_small_files "$LAB_MNT/small" 1000000 1500 12000)" 'No space left on device' 'full'
rm "$LAB_MNT"/small/*[05]
sync
sum=$(cd "$LAB_MNT/small" && sha256sum ./* | sha256sum)
try unmount umount "$LAB_MNT"
lab_wipe /dev/labdb
btrfs device scan >/dev/null
try 'mount degraded' lab_mount /dev/labda degraded || bail_out 'mount degraded'
echo 4M >"$(lab_sysfs)/devinfo/2/scrub_speed_max"
generation=$(cat /sys/fs/btrfs/*/generation)
rm -f /tmp/stop
churn & churn=$!
try 'replace' btrfs replace start -B -f -K 2 /dev/labde "$LAB_MNT"
touch /tmp/stop
wait $churn
is $? 0 'leaves change meanwhile'
echo 4M >"$(lab_sysfs)/devinfo/2/scrub_speed_max"
in_range $(($(cat /sys/fs/btrfs/*/generation) - generation)) 50 1e6 'commits meanwhile'
diag "$(dmesg | tail -20)"
try 'writable' lab_writable
is "$(btrfs replace status -1 "$LAB_MNT" | grep -c ' 0 write errs, 0 uncorr. read errs')" 1 'no read error'
try 'unmount' umount "$LAB_MNT"
# What is on the new SSD alone.
btrfs device scan --forget
btrfs device scan /dev/labde /dev/labdc /dev/labdd >/dev/null
lab_wipe /dev/labda
btrfs device scan >/dev/null
try 'btrfs check of the copy' btrfs check /dev/labde
try 'mount the copy' lab_mount /dev/labde degraded
is "$(cd "$LAB_MNT/small" && sha256sum ./* | sha256sum)" "$sum" 'contents of the copy'
try 'scrub of the copy finds no error' lab_scrub
try 'unmount the copy' umount "$LAB_MNT"
done_testing
