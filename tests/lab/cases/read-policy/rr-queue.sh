#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1,queue=1 --disk hdd:size=2G,seed=2,queue=1 --disk hdd:size=2G,seed=3,queue=1
#
# Hard disks that take one request at a time, as behind USB: the reader has to
# wait for each of them after a few, so its turns are short, and all three work.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# rate POLICY: MiB/s of one reader
rate() {
	echo "$1" >"$(lab_sysfs)/read_policy" || bail_out "no policy $1"
	lab_drop_caches
	lab_read_rate "$LAB_MNT/file"
}

try mkfs lab_mkfs raid1c3 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda noatime || bail_out mount
lab_fill "$LAB_MNT/file" 400
pid=$(rate pid)
lab_reset
roundrobin=$(rate roundrobin)
diag "pid $pid MiB/s, roundrobin $roundrobin MiB/s"
in_range "$(awk "BEGIN { print $roundrobin / $pid }")" 1.4 3 'roundrobin over pid'
for d in $(lab_disks); do
	in_range "$(lab_stat "$d" read_bytes | awk '{ print $1 / 2^20 }')" 100 170 "${d##*/}: about a third of it, in MiB"
done
try unmount umount "$LAB_MNT"
done_testing
