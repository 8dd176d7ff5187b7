#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The same seed and kernel give the same figures to the last digit: one workload
# twice, everything it can show of itself compared.  A third run with another
# seed must differ, or nothing was compared.  Runs on the host; arguments are
# options for `lab run`.

here=$(cd "$(dirname "$0")" && pwd)

if [ -z "${LAB_LIB:-}" ]; then
	. "$here/lib.sh"
	[ $# -gt 0 ] || [ -x "${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}/${LAB_KERNEL:-6.12}/build-${LAB_CONFIG:-uml}/linux" ] ||
		skip_all 'no lab kernel; ./quickstart builds it'
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	for n in 1 2 3; do
		"$here/lab" run --mem 512M --share "$here" --disk hdd:size=1G,seed=1 \
			--disk hdd:size=1G,seed=2 --disk ssd:size=1G "$@" \
			--seed $((n / 3)) --log "$tmp/log$n" \
			-- "$here/${0##*/}" >"$tmp/out$n" 2>"$tmp/err$n"
		is $? 0 "run $n"
	done
	is "$(grep -c . "$tmp/out1")" "$(grep -c . "$tmp/out2")" "as many lines"
	is "$(diff "$tmp/out1" "$tmp/out2")" "" "the same output"
	is "$(diff "$tmp/err1" "$tmp/err2")" "" "the same errors"
	is "$(diff "$tmp/log1" "$tmp/log2")" "" "the same kernel log"
	refuse "another seed gives something else" cmp -s "$tmp/out1" "$tmp/out3"
	done_testing
fi

. "$LAB_LIB"
show() {
	lab_now
	od -An -tx1 -N16 /dev/urandom
	cat /proc/self/stat /proc/interrupts /proc/vmstat /proc/stat
	for d in $(lab_disks); do
		cat "/sys/block/${d##*/}/lab/stats" "/sys/block/${d##*/}/stat"
	done
}

set -e
# No -U: also what mkfs draws by lot is the same.
mkfs.btrfs -q -K -d raid1c3 -m raid1c3 $(lab_disks)
lab_mount /dev/labda
lab_fill "$LAB_MNT/f" 48
show
lab_drop_caches
dd if="$LAB_MNT/f" of=/dev/null bs=1M 2>&1
lab_fio --name=mixed --directory="$LAB_MNT" --size=32M --rw=randrw --bs=4k \
	--numjobs=3 --iodepth=8 --ioengine=libaio --direct=1 --number_ios=200 \
	--fsync=20
show
btrfs filesystem show
umount "$LAB_MNT"
sha256sum $(lab_disks)
show
