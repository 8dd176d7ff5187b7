# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For cases of superblocks that lag. Sourced in the lab, after $LAB_LIB.

# Kernels with the topic.
case $(uname -r) in
6.12.*|7.3.*) ;;
*) skip_all "superblocks do not lag on Linux $(uname -r)" ;;
esac

# lags on|off
lags() {
	btrfs -q device policy set pid --lagging-superblocks "$1" "$LAB_MNT"
}

# tiered DATA_DEVICE... -- SSD...: mounts an array, RAID1 metadata on the SSDs alone
tiered() {
	local data=()

	while [ "$1" != -- ]; do
		data+=("$1")
		shift
	done
	shift
	try mkfs lab_mkfs "${profile:-raid1c3/raid1}" "${data[@]}" "$@"
	try mount lab_mount "${data[0]}"
	try roles btrfs -q device policy tag metadata-only $(seq $((${#data[@]} + 1)) $((${#data[@]} + $#))) \
		data-only $(seq ${#data[@]}) "$LAB_MNT" --force
	try balance btrfs -q balance start --full-balance "$LAB_MNT"
	sync_all
}

# A commit that changes no chunk, after one that does.
sync_all() {
	local n

	for n in 1 2; do
		: >"$LAB_MNT/again"
		sync
	done
}

# generation DEVICE: of its superblock on disk
generation() {
	btrfs inspect-internal dump-super "$1" 2>/dev/null | awk '$1 == "generation" { print $2 }'
}

# The devices whose superblocks are older than others, a line each.
lagging() {
	local disk newest=0 g

	echo 3 >/proc/sys/vm/drop_caches
	for disk in $(lab_disks); do
		g=$(generation "$disk")
		echo "$disk ${g:-0}"
	done >/tmp/generations
	newest=$(sort -n -k2 /tmp/generations | awk 'END { print $2 }')
	awk -v newest="$newest" '$2 && $2 != newest { print $1 }' /tmp/generations
}
