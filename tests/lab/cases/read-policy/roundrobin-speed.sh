#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 3G --disk hdd:size=4G,seed=1 --disk hdd:size=4G,seed=2 --disk hdd:size=4G,seed=3
#
# One reader of one file of 2 GiB on RAID1C3 over three hard disks, at the
# default readahead: roundrobin against pid, set with the command.  Virtual time
# is exact, so the bound is the one promised and not a guess at noise.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

rate() {
	lab_drop_caches
	lab_read_rate "$LAB_MNT/file"
}

# The first and only answer of a policy to "what do you still hold in flight?"
loads() {
	cat /sys/fs/btrfs/$LAB_UUID/devinfo/*/read_stats | sed -n 's/^load_ns //p' | sort -u
}

try mkfs lab_mkfs raid1c3 /dev/labda /dev/labdb /dev/labdc || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_fill "$LAB_MNT/file" 2048
is "$(stat -c %s "$LAB_MNT/file")" $((2048 << 20)) 'a file of 2 GiB'
is "$(btrfs device policy get read-policy "$LAB_MNT")" pid 'pid is the default'
pid=$(rate)
is "$(btrfs device policy set roundrobin "$LAB_MNT")" 'read policy: pid -> roundrobin' 'set roundrobin'
roundrobin=$(rate)
diag "pid $pid MiB/s, roundrobin $roundrobin MiB/s"
in_range "$(awk "BEGIN { print $roundrobin / $pid }")" 1.88 3 'roundrobin over pid'

sum=$(lab_sum "$LAB_MNT/file")
cat "$LAB_MNT/file" > /dev/null &
switched=0
for i in $(seq 40); do
	btrfs -q device policy set $([ $((i % 2)) = 0 ] && echo roundrobin || echo pid) "$LAB_MNT" && switched=$((switched + 1))
	echo 3 > /proc/sys/vm/drop_caches
	sleep 0.05
done
wait $!
is $? 0 'the reader ends well'
is $switched 40 'the policy was switched'
lab_drop_caches
is "$(lab_sum "$LAB_MNT/file")" "$sum" 'the same content after switching under load'
sync
is "$(loads)" 0 'nothing is left accounted as in flight'
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
