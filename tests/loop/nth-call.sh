#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# As the lab's case of this name, on the kernel that is running: what changes things
# on a kernel without roles, with its nth call failing, for every n. Needs root. Has
# a mount namespace of its own, and in it an /etc of its own.
set -u
if [ "${1-}" != inside ]; then
	[ "$(id -u)" = 0 ] || { echo '1..0 # SKIP needs root for loop devices'; exit 0; }
	unshare --mount true 2>/dev/null || { echo '1..0 # SKIP no mount namespaces here'; exit 0; }
	exec unshare --mount bash "$0" inside
fi
loops=() work=$(mktemp -d)
lab=$(cd "$(dirname "$0")/../lab/machine" && pwd)
injector=$work/failing.so
# A new one each time: the kernel remembers devices of file systems that were mounted.
uuid=$(cat /proc/sys/kernel/random/uuid)
conf=/etc/btrfs-policy.d/$uuid.conf
sysfs=/sys/fs/btrfs/$uuid
# The program itself: libtool's wrapper would have calls of its own.
export LD_LIBRARY_PATH=$top_builddir/libbtrfs-policy/.libs
policy=$top_builddir/cmds/.libs/btrfs-policy
. "$top_srcdir/tests/tap.sh"
. "$lab/nth-call.sh"

clean() {
	! mountpoint -q "$work/mnt" || umount "$work/mnt"
	[ ${#loops[@]} -eq 0 ] || losetup -d "${loops[@]}"
	rm -rf "$work" "$nth"
}

report() {	# NAME COMMAND...
	local status=0

	"${@:2}" >"$work/diagnosis" || status=$?
	result $status "$1"
	cat "$work/diagnosis"
}

mount_it() {
	mount "${loops[0]}" "$work/mnt"
}

make_devices() {
	local i

	for i in 1 2 3 4; do
		truncate -s 512M "$work/$i.img" && loops+=("$(losetup -f --show "$work/$i.img")") || return
	done
}

# Who has just looked at one of the devices keeps mkfs from it.
make_it() {
	local i

	mkdir "$work/mnt"
	for i in $(seq 20); do
		mkfs.btrfs -q -f -U "$uuid" -d raid1 -m raid1 "${loops[@]}" >"$work/mkfs" 2>&1 && break
		sleep 0.5
	done
	cat "$work/mkfs" && mount_it
}

# Metadata for devices 1 and 2 alone, written where this kernel does not look.
give_roles() {
	umount "$work/mnt" && "$lab/dev-type" "${loops[@]}" -- 1=2 2=2 3=3 4=3 && mount_it
}

# This kernel puts chunks where most space is, so that each balance has something to do, or not.
anything() {
	:
}

defaults() {
	rm -rf "${conf%/*}"
	"$policy" -q set pid --readahead 4M "$work/mnt"
}

edited() {
	defaults
	mkdir -p "${conf%/*}"
	printf '# mine\nread-policy = pid\nreadahead = 2M\n' >"$conf"
}

trap clean EXIT
ldd "$policy" 2>/dev/null | grep -q libasan && skip_all 'a sanitizer wants to be the first library'
grep -qw btrfs /proc/filesystems || modprobe btrfs 2>/dev/null || skip_all 'the running kernel has no btrfs'
command -v mkfs.btrfs >/dev/null || skip_all 'no mkfs.btrfs; apt install btrfs-progs'
losetup -f >/dev/null 2>&1 || skip_all 'no loop devices here'
mount --make-rprivate / && cp -a /etc "$work/etc" && mount --bind "$work/etc" /etc || skip_all 'no /etc of its own'
read -ra compiler <<<"${CC:-cc}"
command -v "${compiler[0]}" >/dev/null || skip_all 'no compiler'
make_devices || skip_all 'cannot make loop devices'
report 'calls can be made to fail' "${compiler[@]}" -O1 -shared -fPIC -o "$injector" "$lab/tools/failing.c" -ldl
report 'a file system on them' make_it
mountpoint -q "$work/mnt" || done_testing

report 'set' every_call defaults "$policy" set pid --readahead 8M "$work/mnt"
report 'set --save over a file' every_call edited "$policy" set pid --readahead 8M --save "$work/mnt"
# Not --all: other file systems that are mounted here have calls, and failures, of their own.
report 'restore' every_call edited "$policy" restore "$work/mnt"
report 'save' every_call edited "$policy" save "$work/mnt"
report 'roles on disk' give_roles
report 'balance' balance_every_call anything anything "$policy" -q balance --preferred-metadata --unenforced "$work/mnt"
umount /etc
done_testing
