#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The stock kernel and ours on the same disks, with device roles compiled in and
# out: without roles chunks are the same one by one for every profile, and so is
# df; and roles survive a kernel that knows nothing of them.
# Runs on the host and starts a machine for each step.

here=$(cd "$(dirname "$0")" && pwd)

# The chunks of every profile after mkfs, writes and a balance of metadata. Not after a conversion: only our kernel begins
# one with a system chunk.
# Nothing is written before its sync: when that begins depends on memory, which is
# a little less with a larger kernel.
chunks_of() {
	local profile

	echo $((500 << 20)) >/proc/sys/vm/dirty_bytes
	echo $((400 << 20)) >/proc/sys/vm/dirty_background_bytes
	for profile in single dup raid0 raid1 raid1c3 raid1c4 raid10 raid5 raid6; do
		echo "$profile"
		lab_fresh && lab_mkfs $profile/$profile $(lab_disks) && lab_mount /dev/labda || return
		lab_fill "$LAB_MNT/a" 150
		sync
		btrfs balance start --force -m "$LAB_MNT" >/dev/null || return
		lab_fill "$LAB_MNT/b" 150 2
		sync
		lab_chunks /dev/labda
		stat -f -c '%b %a' "$LAB_MNT"
		umount "$LAB_MNT" || return
	done
}

# All that statfs says of a filesystem that nothing writes to.
still() {
	local profile
	for profile in single raid0 raid1 raid1c3 raid1c4 raid10 raid5 raid6; do
		lab_fresh && mkfs.btrfs -q -f -K -U "$LAB_UUID" -d $profile -m $profile $(lab_disks) >/dev/null 2>&1 &&
			lab_mount /dev/labda ro || return
		echo "$profile $(stat -f -c '%s %S %b %f %a %c %d' "$LAB_MNT")"
		umount "$LAB_MNT" || return
	done
}

types() {
	btrfs inspect-internal dump-tree -t chunk /dev/labda |
		awk '/DEV_ITEMS DEV_ITEM/ { mine = 1 } mine && $(NF - 1) == "type" { print $NF; mine = 0 }' | xargs
	for d in $(lab_disks); do
		btrfs inspect-internal dump-super -f "$d" | awk '$1 == "dev_item.type" { print $2 }'
	done | xargs
}

# Roles are on these disks, and the kernel does not know them.
commands() {
	btrfs device scan >/dev/null
	lab_mount /dev/labda || return
	btrfs device policy usage "$LAB_MNT" | grep '^Enforced:'
	btrfs -q device policy tag data-preferred 1 "$LAB_MNT" || echo "tag: $?"
	btrfs -q balance --preferred-metadata "$LAB_MNT" || echo "balance: $?"
	btrfs balance start --force -m "$LAB_MNT" >/dev/null
	lab_chunks /dev/labda | awk '$1 == "METADATA" { print "metadata on", ($4 < $5 ? $4 " " $5 : $5 " " $4) }'
	umount "$LAB_MNT"
	btrfs -q device policy tag --offline data-preferred /dev/labda || echo "offline: $?"
}

in_the_lab() {
	. "$LAB_LIB"
	case $1 in
	chunks) chunks_of ;;
	still) still ;;
	tag) lab_mkfs raid1 $(lab_disks) && lab_mount /dev/labda &&
		btrfs -q device policy tag metadata-only nonrotational "$LAB_MNT" &&
		btrfs -q device policy tag data-only rotational "$LAB_MNT" && umount "$LAB_MNT" && types ;;
	write) btrfs device scan >/dev/null
		lab_mount /dev/labda && [ ! -e "$(lab_sysfs)/devinfo/1/role" ] && lab_fill "$LAB_MNT/f" 100 &&
		btrfs balance start --force "$LAB_MNT" >/dev/null && umount "$LAB_MNT" && types ;;
	commands) commands ;;
	read) btrfs device scan >/dev/null
		lab_mount /dev/labda && grep -ho '\[.*\]' "$(lab_sysfs)"/devinfo/*/role | xargs && umount "$LAB_MNT" && types ;;
	esac
}

if [ -n "${LAB_LIB:-}" ]; then
	in_the_lab "$1"
	exit
fi

. "$here/lib.sh"
build=$(realpath "${top_builddir:-$here/../../../build}")
cache=${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}/${LAB_KERNEL:-6.12}
ours=$cache/build-${LAB_CONFIG:-uml}/linux stock=$cache/build-uml-stock/linux
[ -x "$ours" ] || skip_all 'no lab kernel; ./quickstart builds it'
[ -x "$stock" ] || skip_all 'no stock kernel for the lab; kernel/ktree build --stock uml'
[ -x "$build/root/usr/bin/btrfs-policy" ] || bail_out 'no commands in build/root/usr/bin'
tmp=$(mktemp -d "${TMPDIR:-/dev/shm}/stock.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# machine KERNEL STEP OUTPUT DISK...
machine() {
	local kernel=$1 step=$2 output=$3

	shift 3
	"$here/lab" run --kernel "$kernel" --mem 1G --share "$build" --share "$here" "$@" \
		--env "PATH=$build/root/usr/bin:$PATH" --env "LD_LIBRARY_PATH=$build/root/usr/lib" \
		-- "$here/test-stock.sh" "$step" >"$tmp/$output" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
}

disks=(--disk hdd:size=3G,seed=1 --disk hdd:size=5G,seed=2 --disk hdd:size=5G,seed=3
	--disk ssd:size=2500M,seed=4 --disk ssd:size=1500M,seed=5)
for step in chunks still; do
	try "$step: stock kernel" machine "$stock" $step $step.stock "${disks[@]}"
	try "$step: our kernel" machine "$ours" $step $step.ours "${disks[@]}"
	in_range "$(wc -l <"$tmp/$step.stock")" 8 1000 "$step: something was compared, lines"
	is "$(diff "$tmp/$step.stock" "$tmp/$step.ours")" '' "$step: the same without roles"
done

mkdir "$tmp/images"
disks=(--images "$tmp/images" --disk ssd:size=512M,seed=1 --disk ssd:size=512M,seed=2 --disk hdd:size=1G,seed=3 --disk hdd:size=1G,seed=4)
try 'round trip: roles are set' machine "$ours" tag tag "${disks[@]}"
is "$(paste -sd/ "$tmp/tag")" '2 2 3 3/2 2 3 3' 'round trip: on disk'
try 'round trip: the stock kernel writes' machine "$stock" write write "${disks[@]}"
is "$(paste -sd/ "$tmp/write")" '2 2 3 3/2 2 3 3' 'round trip: kept'
try 'stock kernel: the commands' machine "$stock" commands said "${disks[@]}"
is "$(cat "$tmp/said")" "Enforced: no, this kernel has no '/sys/fs/btrfs/features/device_role'
tag: 2
balance: 2
metadata on 3 4
offline: 2" 'stock kernel: what they say'
try 'round trip: back with us' machine "$ours" read read "${disks[@]}"
is "$(paste -sd/ "$tmp/read")" '[metadata-only] [metadata-only] [data-only] [data-only]/2 2 3 3/2 2 3 3' 'round trip: the same roles'
done_testing
