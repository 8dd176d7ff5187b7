#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=8G,seed=1 --disk hdd:size=8G,seed=2 --disk hdd:size=8G,seed=3 --disk hdd:size=8G,seed=4
#
# Devices are added, removed and replaced under roundrobin with reads and writes. The disks are large beside a chunk:
# where one data chunk more does not fit, Linux 7.3 makes no block group read-only that a replace has to copy.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

load() {
	while [ ! -e /tmp/stop ]; do
		lab_fio --name=load --directory="$LAB_MNT" --rw=randrw --bs=64k --size=12M --numjobs=2 \
			--time_based --runtime=1 --fallocate=none --output=/dev/null || echo fio >> /tmp/bad
		echo 3 > /proc/sys/vm/drop_caches
		[ "$(lab_sum "$LAB_MNT/a")" = "$sum" ] || echo contents >> /tmp/bad
		echo round >> /tmp/rounds
	done
}

try mkfs lab_mkfs raid1 /dev/labda /dev/labdb /dev/labdc || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'set roundrobin' btrfs -q device policy set roundrobin "$LAB_MNT"
lab_fill "$LAB_MNT/a" 48
sum=$(lab_sum "$LAB_MNT/a")
sync
load &
for round in 1 2; do
	try "$round: add" btrfs device add -f /dev/labdd "$LAB_MNT"
	try "$round: remove" btrfs device remove /dev/labdb "$LAB_MNT"
	try "$round: replace" btrfs replace start -f -B /dev/labda /dev/labdb "$LAB_MNT"
	try "$round: add again" btrfs device add -f /dev/labda "$LAB_MNT"
	try "$round: remove the added one" btrfs device remove /dev/labdd "$LAB_MNT"
	try "$round: replace, reading from others" btrfs replace start -f -r -B /dev/labdc /dev/labdd "$LAB_MNT"
	try "$round: replace back" btrfs replace start -f -B /dev/labdd /dev/labdc "$LAB_MNT"
done
touch /tmp/stop
wait
is "$(cat /tmp/bad 2>/dev/null)" '' 'the load saw no error and no other contents'
in_range "$(wc -l </tmp/rounds)" 2 1000000 'rounds of the load'
is "$(btrfs device policy get read-policy "$LAB_MNT")" roundrobin 'the policy has stayed'
try 'nothing is left in flight' lab_idle
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda
done_testing
