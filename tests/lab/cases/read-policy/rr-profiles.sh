#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3 --disk hdd:size=2G,seed=4
#
# Chunks of different profiles side by side while balance converts them: each
# read has to go to a stripe of its own chunk and sub-group.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

same() {
	(cd "$LAB_MNT" && sha256sum --quiet -c /tmp/sums)
}

load() {
	while [ ! -e /tmp/stop ]; do
		echo 3 > /proc/sys/vm/drop_caches
		same >> /tmp/bad 2>&1
		echo round >> /tmp/rounds
		sleep 0.2
	done
}

try mkfs lab_mkfs raid10/raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'set roundrobin' btrfs -q device policy set roundrobin "$LAB_MNT"
mkdir "$LAB_MNT/nocow"
chattr +C "$LAB_MNT/nocow"
for i in $(seq 6); do
	# No two blocks are alike: a wrong stripe cannot look right.
	lab_fill "$LAB_MNT/f$i" 8 "$i"
	cat "$LAB_MNT/f$i" > "$LAB_MNT/nocow/f$i"
done
(cd "$LAB_MNT" && sha256sum f* nocow/*) > /tmp/sums
lab_drop_caches
load &
for convert in raid1/raid10 raid1c3/raid1c4 raid1c4/raid1 raid10/raid1c3; do
	try "convert to $convert" btrfs balance start -dconvert=${convert%/*} -mconvert=${convert#*/} "$LAB_MNT"
done
touch /tmp/stop
wait
is "$(cat /tmp/bad)" '' 'contents never differed'
in_range "$(wc -l </tmp/rounds)" 4 1000000 'times that they were read'
lab_drop_caches
try 'nor do they afterwards' same
try 'no device has errors' btrfs device stats -c "$LAB_MNT"
try 'nothing is left in flight' lab_idle
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda || {
	# On the disks, or only in a cache?
	lab_drop_caches
	diag "again: $(btrfs check --check-data-csum /dev/labda 2>&1)"
}
done_testing
