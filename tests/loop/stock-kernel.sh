#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The commands on the kernel that is running, with loop devices: what they show
# agrees with btrfs-progs, what this kernel cannot do ends with status 2 and
# changes nothing.  Needs root.  Touches only files of its own temporary folder.
set -u
btrfs_policy=$top_builddir/cmds/btrfs-policy
loops=() dir=
. "$top_srcdir/tests/tap.sh"

# ends STATUS TEXT NAME COMMAND...: exit status, and a text that stderr must have
ends() {
	local status=$1 text=$2 name=$3 got=0
	shift 3
	"$@" >"$dir/out" 2>"$dir/err" || got=$?
	if [ "$got" = "$status" ] && { [ -z "$text" ] || grep -qF -- "$text" "$dir/err"; }; then
		result 0 "$name"
	else
		sed 's/^/# /' "$dir/err"
		is "status $got" "status $status and '$text'" "$name"
	fi
}

clean() {
	umount "$dir"/{hidden,hidden,writable,mnt} 2>/dev/null
	[ ${#loops[@]} -eq 0 ] || losetup -d "${loops[@]}"
	rm -rf "$dir"
}

make_devices() {
	local i
	for i in 1 2 3 4; do
		truncate -s 1G "$dir/$i.img" && loops+=("$(losetup -f --show "$dir/$i.img")") || return
	done
}

# Bytes of a kind over all devices, by btrfs itself and by us.
their_sum() {
	btrfs device usage -b "$dir/mnt" | awk -F '[:, ]+' -v kind="$1" '$2 == kind { s += $NF } END { print s + 0 }'
}

our_sum() {
	"$btrfs_policy" --format json device policy usage "$dir/mnt" |
		jq --arg k "${1,,}-bytes" '[.[keys[1]].devices[][$k]] | add'
}

types_on_disk() {
	btrfs inspect-internal dump-tree -t chunk "${loops[0]}" | awk '/ type [0-9]+$/ { print $NF }' | xargs
}

# mounted OPTION...: a new file system on all devices; who has just looked at one of them keeps mkfs from it
mounted() {
	local i

	for i in $(seq 20); do
		mkfs.btrfs -q -f "$@" "${loops[@]}" >"$dir/mkfs" 2>&1 &&
			mount "${loops[0]}" "$dir/mnt" 2>>"$dir/mkfs" && return
		sed 's/^/# /' "$dir/mkfs"
		sleep 0.5
	done
	return 1
}

profile() {
	local data=$1 metadata=$2 options=${3:-} kind

	# shellcheck disable=SC2086
	mounted $options -d "$data" -m "$metadata" || { result 1 "make $data/$metadata $options"; return; }
	head -c 20M /dev/urandom >"$dir/mnt/file"
	sync -f "$dir/mnt"
	for kind in Data Metadata System; do
		is "$(our_sum $kind)" "$(their_sum $kind)" "$data/$metadata${options:+ $options}: $kind bytes as in btrfs device usage"
	done
	umount "$dir/mnt"
}

[ "$(id -u)" = 0 ] || skip_all 'needs root for loop devices'
grep -qw btrfs /proc/filesystems || modprobe btrfs 2>/dev/null || skip_all 'the running kernel has no btrfs'
command -v mkfs.btrfs >/dev/null || skip_all 'no mkfs.btrfs; apt install btrfs-progs'
losetup -f >/dev/null 2>&1 || skip_all 'no loop devices here'
[ ! -e /sys/fs/btrfs/features/device_role ] || skip_all 'the running kernel has the series'
dir=$(mktemp -d) && chmod 755 "$dir"
trap clean EXIT
mkdir "$dir/mnt"
make_devices || skip_all 'cannot make loop devices'

profile raid1 raid1
profile raid10 raid1c4
profile single dup
if mkfs.btrfs -O list-all 2>&1 | grep -q block-group-tree; then
	profile raid1c3 raid10 '-O block-group-tree'
else
	profile raid1c3 raid10
fi

mounted -d raid1 -m raid1 || result 1 'make the file system that commands are refused on'
is "$("$btrfs_policy" --format json device policy show "$dir/mnt" | jq -c '.[keys[1]][0] | [.enforced, .kernel]')" \
	'[false,"stock"]' 'show: not enforced, stock kernel'
before=$(types_on_disk)
is "$before" '0 0 0 0' 'no role is on disk'
policy_file=/sys/fs/btrfs/$(findmnt -no UUID "$dir/mnt")/read_policy
policy_before=$(cat "$policy_file")
ends 2 /sys/fs/btrfs/features/read_policy_roundrobin 'set roundrobin: status 2, names the file' \
	"$btrfs_policy" device policy set roundrobin "$dir/mnt"
ends 2 /sys/fs/btrfs/features/device_role 'tag: status 2, names the file' \
	"$btrfs_policy" device policy tag metadata-only 1 2 "$dir/mnt"
ends 2 /sys/fs/btrfs/features/device_role 'balance: status 2, names the file' \
	"$btrfs_policy" balance --preferred-metadata "$dir/mnt"
sync -f "$dir/mnt"
is "$(types_on_disk)" "$before" 'nothing on disk has changed'
is "$(cat "$policy_file")" "$policy_before" 'nor has the read policy'
ends 1 'No such file' 'a path that is not there' "$btrfs_policy" device policy show "$dir/nowhere"
ends 1 'not on a btrfs' 'a file system that is not btrfs' "$btrfs_policy" device policy show /proc
ends 0 '' 'usage -c: nothing misplaced' "$btrfs_policy" device policy usage -c "$dir/mnt"
if command -v setpriv >/dev/null; then
	ends 1 'ermi' 'usage without permission' \
		setpriv --reuid 65534 --clear-groups "$btrfs_policy" device policy usage "$dir/mnt"
else
	skip 'usage without permission: no setpriv'
fi
# To rescue a system, its subvolume becomes the root: its mount point is above that, so no table has it.
build=$(realpath "$top_builddir")
# shellcheck disable=SC2016 # for the other shell
in_chroot='cd "$1" && mkdir -p usr proc sys dev ".$2" && ln -s usr/bin usr/lib usr/lib64 . &&
	for i in usr proc sys dev "${2#/}"; do mount --rbind "/$i" "$i" || exit; done && exec chroot . "$3" device policy show /'
btrfs -q subvolume create "$dir/mnt/root" || result 1 'a subvolume'
ends 0 '' 'show: the root is no mount point' \
	unshare -m bash -c "$in_chroot" - "$dir/mnt/root" "$build" "$build/cmds/btrfs-policy"
# By its UUID one that can be written to is taken, and what is hidden below another mount is passed over.
uuid=$(findmnt -no UUID "$dir/mnt")
mkdir "$dir/writable" "$dir/hidden"
mount --bind "$dir/mnt" "$dir/writable" && mount -o remount,bind,ro "$dir/mnt" || result 1 'a read-only bind mount'
is "$("$btrfs_policy" --format json device policy show "UUID=$uuid" | jq -r '.[keys[1]][0]["mount-point"]')" \
	"$dir/writable" 'the mount that is not read-only'
mount --bind "$dir/mnt" "$dir/hidden" && mount -t tmpfs none "$dir/hidden" || result 1 'a mount above another'
ends 1 'neither a path nor UUID or label' 'a label that nobody has' "$btrfs_policy" device policy show no-such-label
umount "$dir/hidden" "$dir/hidden" "$dir/writable" "$dir/mnt"

# Like the snapshot of a volume. It cannot be known which of the two copies the first device belongs to.
cp --sparse=always "$dir/2.img" "$dir/copy.img" && loops+=("$(losetup -f --show "$dir/copy.img")") || result 1 'a copy of a device'
ends 1 'name all devices of one of the copies' 'offline: copies are not mixed' \
	"$btrfs_policy" device policy usage --offline "${loops[0]}"
ends 0 '' 'offline: all devices of one copy' "$btrfs_policy" device policy usage --offline "${loops[@]:0:4}"
ends 0 '1 of 4 devices' 'offline: the devices of one copy that are left' \
	"$btrfs_policy" device policy usage --offline "${loops[@]:0:3}"
done_testing
