#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk ssd:size=2G,seed=3
#
# The policy changes every 10 ms under reads and writes, then nothing is
# accounted any more, contents are what was written, and pid counts nothing.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
policy=$(lab_sysfs)/read_policies/policy

load() {
	lab_fio --name=load --directory="$LAB_MNT" --rw=randrw --bs=16k --size=24M --numjobs=3 \
		--time_based --runtime=5 --fallocate=none --fsync=64 --output=/tmp/fio
}

counts() {
	cat "$(lab_sysfs)"/devinfo/*/read_stats
}

try mkfs lab_mkfs raid1/raid1c3 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_fill "$LAB_MNT/a" 32
touch "$LAB_MNT/nocow"
chattr +C "$LAB_MNT/nocow"
cat "$LAB_MNT/a" > "$LAB_MNT/nocow"
sum=$(lab_sum "$LAB_MNT/a")
lab_drop_caches
load &
fio=$!
n=0 differ=0
while [ -e /proc/$fio ]; do
	[ $((n % 2)) = 0 ] && echo roundrobin > "$policy" || echo pid > "$policy"
	n=$((n + 1))
	sleep 0.01
	[ $((n % 40)) = 0 ] || continue
	echo 3 > /proc/sys/vm/drop_caches
	[ "$(lab_sum "$LAB_MNT/a" "$LAB_MNT/nocow" | sort -u)" = "$sum" ] || differ=$((differ + 1))
done
try 'the load saw no error' wait $fio
in_range $n 200 100000 'changes under load'
is $differ 0 'contents never differed'
try 'nothing is left in flight' lab_idle
btrfs -q device policy set roundrobin "$LAB_MNT"
before=$(counts)
lab_drop_caches
cat "$LAB_MNT/a" > /dev/null
[ "$(counts)" != "$before" ] && ok 'roundrobin counts' || not_ok 'roundrobin counts'
btrfs -q device policy set pid "$LAB_MNT"
before=$(counts)
lab_drop_caches
cat "$LAB_MNT/a" > /dev/null
is "$(counts)" "$before" 'pid counts nothing'
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda
done_testing
