#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3
#
# The real program on the real kernel, with its nth call to it failing, for every
# n: either all is changed or nothing is, and an error says what failed.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
conf=/etc/btrfs-policy.d/$LAB_UUID.conf
sysfs=$(lab_sysfs)
injector=/tmp/failing.so
. "$(dirname "$LAB_LIB")/nth-call.sh"

defaults() {
	rm -rf "${conf%/*}"
	btrfs-policy -q set pid --rot-penalty 1 --readahead 4M "$LAB_MNT"
	btrfs-policy -q tag data-preferred 1 2 3 "$LAB_MNT"
}

edited() {
	defaults
	mkdir -p "${conf%/*}"
	printf '# mine\nread-policy = roundrobin\nrot-penalty = 9\n' >"$conf"
}

counted() {	# NAME COMMAND...
	if "${@:2}" >/tmp/diagnosis; then ok "$1"; else not_ok "$1"; fi
	cat /tmp/diagnosis
}

try 'the injector' cc -O1 -shared -fPIC -o $injector "$(dirname "$LAB_LIB")/tools/failing.c" -ldl ||
	bail_out 'no injector'
try mkfs lab_mkfs raid1/raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
counted 'set' every_call defaults btrfs-policy set roundrobin --rot-penalty 3 "$LAB_MNT"
counted 'set --save over a file' every_call edited btrfs-policy set roundrobin --readahead 8M --save "$LAB_MNT"
counted 'tag' every_call defaults btrfs-policy tag metadata-preferred 1 2 "$LAB_MNT"
counted 'restore' every_call edited btrfs-policy restore --all
counted 'save' every_call edited btrfs-policy save "$LAB_MNT"
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
