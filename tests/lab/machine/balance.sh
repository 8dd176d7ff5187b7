# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the cases of `balance --preferred-metadata` share: file systems with a past,
# and what is measured about moving them.  Source it behind lib.sh.

sources=$(dirname "$LAB_LIB")/../../..

# A source tree, then one snapshot and one change a day, with things deleted: history DAYS [FILES]
history() {
	local day

	btrfs -q subvolume create "$LAB_MNT/tree" || return
	for day in $(seq "$1"); do
		cp -r "$sources"/{libbtrfs-policy,cmds,kernel/6.12,kernel/fs,tests/unit} "$LAB_MNT/tree" &&
		lab_small_files "$LAB_MNT/tree/mail$day" "${2:-400}" 1500 6000 >/dev/null &&
		lab_fill "$LAB_MNT/tree/big$day" 24 "$day" &&
		btrfs -q subvolume snapshot -r "$LAB_MNT/tree" "$LAB_MNT/day$day" &&
		find "$LAB_MNT/tree" -name "*$day*" -type f -delete || return
	done
	rm -rf "$LAB_MNT/tree"/{6.12,fs} "$LAB_MNT/tree/mail2"
	[ ! -d "$LAB_MNT/day2" ] || btrfs -q subvolume delete "$LAB_MNT/day2" >/dev/null
	sync
}

# Checksums of everything but what is hidden, as it is on the disks: sums [DIR]
sums() {
	lab_drop_caches
	(cd "$LAB_MNT/${1:-}" && find . -type f ! -path './.*' -print0 | sort -z | xargs -0 sha256sum)
}

usage() {
	btrfs --format json device policy usage "$LAB_MNT" | jq ".[keys[1]] | $1"
}

# 0: nothing is misplaced, 64: something is; whether metadata is nearly full (32) is left out
verdict() {
	btrfs device policy usage -c "$LAB_MNT" >/dev/null
	echo $(($? & ~32))
}

preferred() {
	btrfs balance --preferred-metadata "$@" "$LAB_MNT"
}

# Bytes that all disks were told to write since lab_reset.
written() {
	local disk sum=0

	for disk in $(lab_disks); do
		sum=$((sum + $(lab_stat "$disk" write_bytes)))
	done
	echo $sum
}

mebibytes() {
	echo $(($1 >> 20))
}

# The disks $1 to $2 turn into metadata disks, the others take data: roles A-B C-D
roles() {
	btrfs -q device policy tag metadata-only $1 "$LAB_MNT" --force &&
	btrfs -q device policy tag data-only $2 "$LAB_MNT" --force
}

# Every balance ends some time: wait for what the kernel took up at mount.
wait_for_balance() {
	local try

	for try in $(seq 1000); do
		[ "$(cat "$(lab_sysfs)/exclusive_operation")" = balance ] || return 0
		sleep 0.5
	done
	return 1
}

# A file system that began on the hard disks labdc and labdd; then the SSDs came, and
# a history: old_disks_new_ssds DAYS FILES
old_disks_new_ssds() {
	try 'mkfs' lab_mkfs raid1 /dev/labdc /dev/labdd || bail_out mkfs
	try 'mount' lab_mount /dev/labdc || bail_out mount
	try 'the SSDs come' btrfs -q device add -f /dev/labda /dev/labdb "$LAB_MNT"
	try 'a history of files and snapshots' history "$1" "$2" || bail_out history
	sums >/tmp/before
}

# Contents are those of /tmp/before, and the file system of device $1 is whole.
nothing_lost() {
	sums ${2:+"$2"} >/tmp/after
	is "$(diff /tmp/before /tmp/after)" '' 'contents are unchanged'
	try 'still writable' lab_writable
	try 'unmount' umount "$LAB_MNT"
	try 'btrfs check' btrfs check --check-data-csum "$1"
}
