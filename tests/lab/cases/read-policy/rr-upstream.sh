#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk ssd:size=1G,seed=2
#
# The read policies that upstream builds with CONFIG_BTRFS_EXPERIMENTAL, beside
# roundrobin: they keep their names and values, do what upstream says they do,
# and what is refused changes nothing.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
top=$(lab_sysfs)/read_policy
parameter=/sys/module/btrfs/parameters/read_policy

# takes TEXT SHOWN
takes() {
	is "$(echo "$1" | lab_store "$top") $(cat "$top")" "taken $2" "$1"
}

refuses() {
	local before

	before=$(cat "$top")
	is "$(echo "$1" | lab_store "$top") $(cat "$top")" "EINVAL $before" "refused: $1"
}

# mounted OPTIONS SHOWN: of a new mount
mounted() {
	try "mount with '$1'" lab_mount /dev/labda "$1" || return
	is "$(cat "$top")" "$2" "policy of it"
	umount "$LAB_MNT"
}

# MiB that each disk delivers when a file is read past the page cache.
spread() {
	lab_reset
	dd if="$LAB_MNT/a" of=/dev/null bs=64K iflag=direct 2>/dev/null
	for d in $(lab_disks); do
		echo $(($(lab_stat "$d" read_bytes) >> 20))
	done | xargs
}

try mkfs lab_mkfs raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
if ! grep -q devid "$top"; then
	skip "Linux $(uname -r) was built without upstream's own read policies"
	done_testing
fi

is "$(cat "$top")" '[pid] round-robin:262144 devid:1 roundrobin' 'names in their order, and defaults'
takes round-robin 'pid [round-robin:262144] devid:1 roundrobin'
takes round-robin:65536 'pid [round-robin:65536] devid:1 roundrobin'
takes round-robin:1000 'pid [round-robin:4096] devid:1 roundrobin'
takes round-robin:1M 'pid [round-robin:1048576] devid:1 roundrobin'
takes devid:2 'pid round-robin:1048576 [devid:2] roundrobin'
for text in devid:3 devid:0 devid:x round-robin: round-robin:-1 round-robin:1Mx pid:1 roundrobin:4096 roundrobi devi; do
	refuses "$text"
done
takes roundrobin 'pid round-robin:1048576 devid:2 [roundrobin]'
takes pid '[pid] round-robin:1048576 devid:2 roundrobin'

lab_fill "$LAB_MNT/a" 64
sync
for id in 1 2; do
	btrfs -q device policy set devid:$id "$LAB_MNT"
	read -ra mib < <(spread)
	in_range "${mib[id - 1]}" 60 64 "devid:$id: MiB from that one"
	is "${mib[2 - id]}" 0 "devid:$id: MiB from the other"
done
try 'the command sets round-robin' btrfs -q device policy set round-robin:65536 "$LAB_MNT"
read -ra mib < <(spread)
in_range "${mib[0]}" 28 36 'round-robin: MiB from one'
in_range "${mib[1]}" 28 36 'round-robin: MiB from the other'
umount "$LAB_MNT"

mounted read_policy=devid:2 'pid round-robin:262144 [devid:2] roundrobin'
mounted read_policy=round-robin:8192 'pid [round-robin:8192] devid:1 roundrobin'
refuse 'mount with a value that pid has not' lab_mount /dev/labda read_policy=pid:1
is "$(echo devid:2 | lab_store $parameter) $(cat $parameter)" 'taken devid:2' 'the module parameter'
mounted '' 'pid round-robin:262144 [devid:2] roundrobin'
try 'btrfs check' btrfs check /dev/labda
done_testing
