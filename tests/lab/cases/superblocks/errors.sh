#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=1G,seed=1 --disk hdd:size=1G,seed=2 --disk ssd:size=1G,seed=3 --disk ssd:size=1G,seed=4
#
# When superblocks may not lag: frozen, read-only, unmounted, after a change of the chunk tree, and while the
# superblock of an SSD cannot be written.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"

both='/dev/labda /dev/labdb'

all_lag() {
	sync_all
	is "$(lagging | xargs)" "$both" "$1"
}

profile=raid1/raid1 tiered /dev/labda /dev/labdb -- /dev/labdc /dev/labdd
lags on
all_lag 'hard disks lag'
try freeze fsfreeze -f "$LAB_MNT"
is "$(lagging)" '' 'a freeze writes all'
try thaw fsfreeze -u "$LAB_MNT"
all_lag 'after the thaw they lag again'
try 'read-only' mount -o remount,ro "$LAB_MNT"
is "$(lagging)" '' 'a remount read-only writes all'
try 'read-write' mount -o remount,rw "$LAB_MNT"
all_lag 'they lag again'
try scrub lab_scrub
try resize btrfs -q filesystem resize 1:900M "$LAB_MNT"
sync -f "$LAB_MNT"
is "$(lagging)" '' 'a change of the chunk tree writes all'
all_lag 'they lag again'

lab_power /dev/labdd cut
: >"$LAB_MNT/again"
sync -f "$LAB_MNT"
is "$(generation /dev/labda)" "$(generation /dev/labdc)" 'with a failed SSD hard disks have the superblock of the commit'
echo x >"$LAB_MNT/synced"
try fsync sync "$LAB_MNT/synced"
is "$(btrfs inspect-internal dump-super /dev/labda | awk '$1 == "log_root" { print $2 }')" \
	"$(btrfs inspect-internal dump-super /dev/labdc | awk '$1 == "log_root" { print $2 }')" 'and that of the log'
umount "$LAB_MNT"
lab_power /dev/labdd on
dmesg -C
try mount lab_mount /dev/labda
try repair btrfs scrub start -B "$LAB_MNT"
try unmount umount "$LAB_MNT"
is "$(lagging)" '' 'unmounted, none lags'
try 'btrfs check' btrfs check /dev/labda
done_testing
