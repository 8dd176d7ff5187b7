#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=800M,seed=1 --disk ssd:size=800M,seed=2 --disk ssd:size=800M,seed=3 --disk hdd:size=1G,seed=4
# lab: --disk hdd:size=1G,seed=5 --disk ssd:size=800M,seed=6 --disk ssd:size=800M,seed=7
# lab: --allow WARNING:.*btrfs_dev_replace_finishing
#
# Two of three metadata-only SSDs are dead and are replaced, one after the other.
# The power is cut meanwhile, of which the kernel warns; the next mount goes on.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

sums() {
	lab_drop_caches
	(cd "$LAB_MNT" && sha256sum large small/* | sha256sum)
}

try mkfs lab_mkfs raid1/raid1c3 $(lab_disks | head -5) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'SSDs for metadata' btrfs -q device policy tag metadata-only nonrotational "$LAB_MNT"
try 'hard disks for data' btrfs -q device policy tag data-only rotational "$LAB_MNT"
try 'chunks follow' btrfs balance --preferred-metadata "$LAB_MNT"
lab_fill "$LAB_MNT/large" 100
lab_small_files "$LAB_MNT/small" 3000 1500 12000 >/dev/null
sum=$(sums)
try unmount umount "$LAB_MNT"
lab_wipe /dev/labdb /dev/labdc
btrfs device scan >/dev/null
try 'mount degraded' lab_mount /dev/labda degraded || bail_out 'mount degraded'
echo 20M >"$(lab_sysfs)/devinfo/2/scrub_speed_max"
btrfs replace start -B -f -K 2 /dev/labdf "$LAB_MNT" >/dev/null 2>&1 &
sleep 1
is "$(btrfs replace status -1 "$LAB_MNT" | grep -c '% done')" 1 'the first replace is under way'
for d in $(lab_disks); do lab_power "$d" cut; done
wait
umount "$LAB_MNT"
for d in $(lab_disks); do lab_power "$d" on; done
btrfs device scan --forget
btrfs device scan >/dev/null
try 'mount again' lab_mount /dev/labda degraded || bail_out 'mount again'
for _ in $(seq 60); do
	btrfs replace status -1 "$LAB_MNT" | grep -q 'finished on' && break
	sleep 1
done
is "$(btrfs replace status -1 "$LAB_MNT" | grep -c 'finished on')" 1 'it goes on and ends'
try 'replace the second' btrfs replace start -B -f -K 3 /dev/labdg "$LAB_MNT"
is "$(lab_small_files "$LAB_MNT/more" 18000 1500 12000)" all 'new chunks find space at once'
sync
is "$(sums)" "$sum" 'contents'
try 'scrub finds no error' lab_scrub
rm -r "$LAB_MNT/more"
try 'unmount at the end' umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
