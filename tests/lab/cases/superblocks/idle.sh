#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=1G,seed=1 --disk hdd:size=1G,seed=2 --disk hdd:size=1G,seed=3 --disk ssd:size=1G,seed=4 --disk ssd:size=1G,seed=5 --disk hdd:size=1G,seed=1 --disk hdd:size=1G,seed=2 --disk hdd:size=1G,seed=3
#
# Syncs on an idle array whose metadata is on SSDs alone: as fast as without hard disks.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"

# The median of 40 times in microseconds, in $took: measure WORK [FILE]
measure() {
	took=$("$(dirname "$0")/syncs" "$1" "${2:-$LAB_MNT}" 40) || not_ok "$1"
}

commits() {
	awk '$1 == "commits" { print $2 }' "$(lab_sysfs)/commit_stats"
}

try 'mkfs on SSDs' lab_mkfs raid1/raid1 /dev/labdd /dev/labde
try mount lab_mount /dev/labdd
measure fsync
ssd_fsync=$took
measure together
ssd_together=$took
measure commit
ssd_commit=$took
umount "$LAB_MNT"
wipefs -qa /dev/labdd /dev/labde

measure direct /dev/labdf,/dev/labdg,/dev/labdh
direct=$took

tiered /dev/labda /dev/labdb /dev/labdc -- /dev/labdd /dev/labde
lags off
measure fsync
ok "create, fsync, rename with all superblocks: $took us"
lags on
sync_all
measure fsync
in_range "$took" 1 $((ssd_fsync * 13 / 10)) "create, fsync, rename: $took us, on SSDs alone $ssd_fsync"
measure together
in_range "$took" 1 $((ssd_together * 13 / 10)) "two tasks at once: $took us, on SSDs alone $ssd_together"
measure commit
in_range "$took" 1 $((ssd_commit * 13 / 10)) "create, sync: $took us, on SSDs alone $ssd_commit"
# A new chunk: all superblocks are written once, and syncs must not wait for them until the commit after 30 s.
try 'a balance of an empty chunk' btrfs -q balance start -dusage=0 -musage=0 "$LAB_MNT"
lab_fill "$LAB_MNT/large" 600
sync
measure fsync
in_range "$took" 1 $((ssd_fsync * 13 / 10)) "create, fsync, rename after a new chunk: $took us, on SSDs alone $ssd_fsync"
measure append
# Each is the median of 40 waits for the slowest of three disks, up to a revolution. Of the difference two standard errors
# are 2 * sqrt(2) * 1.25 * 0.19 / sqrt(40) of a revolution (8,333 us), a ninth.
in_range "$took" 1 $((direct + ssd_fsync + ssd_fsync / 10 + 8333 / 9)) "append of 4 KiB, fsync: $took us, a write and a flush of these disks and a sync on SSDs $((direct + ssd_fsync))"
try 'unmount' umount "$LAB_MNT"
try 'mount again' lab_mount /dev/labda
lags on
measure fsync
in_range "$took" 1 $((ssd_fsync * 13 / 10)) "create, fsync, rename after a mount: $took us, on SSDs alone $ssd_fsync"
lags off
is "$(lagging)" '' 'switched off, all superblocks are written'
try unmount umount "$LAB_MNT"

# Where no superblock can lag a new chunk costs no commit.
lab_fresh
try 'mkfs on SSDs' lab_mkfs raid1/raid1 /dev/labdd /dev/labde
try mount lab_mount /dev/labdd
lags on
lab_fill "$LAB_MNT/large" 600
sync
commits=$(commits)
measure fsync
is "$(commits)" "$commits" 'with metadata on every device no sync asks for a commit'
try unmount umount "$LAB_MNT"
done_testing
