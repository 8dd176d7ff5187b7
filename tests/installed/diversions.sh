#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The front under the name of btrfs-progs' program, in a small Debian without a kernel: for the PATH of cron, in the
# initramfs, over reinstallation, an upgrade of btrfs-progs, the upgrade from Debian 12 to 13, removal and purge.
set -u
. "$(dirname "$0")/lib.sh"
. "$here/life.sh"

# All programs of btrfs-progs and all diversions.
state() {
	in_root "$root" dpkg-divert --list '*btrfs*'
	(cd "$root/usr" && find bin sbin -name '*btrfs*' -type f -exec sha256sum {} + | sort -k 2)
}

as_cron() {
	in_root "$root" env -i PATH=/usr/bin:/bin "$@"
}

# Both programs are there, once each: the front, and what dpkg says btrfs-progs has installed.
works() {
	local real
	real=$(cd "$root" && ls usr/bin/btrfs.distrib usr/bin/btrfs.usr-is-merged 2>/dev/null)
	[ "$(wc -w <<< "$real")" = 1 ] || { echo "the real program is '$real'"; return 1; }
	btrfs_is front && as_cron btrfs device policy --help | grep -q 'device policy tag' &&
	as_cron btrfs-policy device policy list --help >/dev/null &&
	[ "$(as_cron btrfs version)" = "$(in_root "$root" "/$real" version)" ] &&
	as_cron btrfsck --help 2>&1 | grep -q 'btrfs check' &&
	in_root "$root" dpkg -V btrfs-progs btrfs-policy
}

# The same files under a higher version, as an update of the distribution has them.
upgrade_progs() {
	mkdir -p "$root/debs/progs"
	suite_apt apt-get update >/dev/null && (cd "$work" && suite_apt apt-get download btrfs-progs) && rm -rf "$work/progs" &&
	dpkg-deb -R "$work"/btrfs-progs_*.deb "$work/progs" &&
	sed -i 's/^Version: .*/&.1/' "$work/progs/DEBIAN/control" &&
	dpkg-deb --root-owner-group -Zgzip -z1 -b "$work/progs" "$root/debs/progs" >/dev/null && rm "$work"/btrfs-progs_*.deb &&
	in_root "$root" sh -c 'dpkg -i /debs/progs/*.deb' && in_root "$root" sh -c 'dpkg-query -W btrfs-progs | grep "\.1$"'
}

# What the initramfs has under the name of btrfs runs in it.
initramfs_works() {
	local status=0

	mkdir -p "$root/lib/modules/6.12.0-none" && echo CONFIG_RD_GZIP=y >"$root/boot/config-6.12.0-none" &&
	in_root "$root" sh -c 'cd /tmp && : > /lib/modules/6.12.0-none/modules.order && : > /lib/modules/6.12.0-none/modules.builtin &&
		depmod 6.12.0-none && mkinitramfs -c gzip -o image 6.12.0-none && rm -rf unpacked &&
		unmkinitramfs image unpacked && [ "$(chroot unpacked btrfs version)" = "$(btrfs version)" ]' || status=1
	rm -rf "$root/lib/modules/6.12.0-none" "$root/boot/config-6.12.0-none"
	return $status
}

next_release() {
	(suite=trixie; cp "$(suite_sources)" "$work/") &&
	rm -rf "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/* &&
	cp "$work"/trixie.* "$root/etc/apt/sources.list.d/" && cp -L /etc/resolv.conf "$root/etc/resolv.conf" &&
	in_root "$root" apt-get -q update &&
	apt_in "$root" -o Dpkg::Options::=--force-confnew dist-upgrade &&
	in_root "$root" sh -c '. /etc/os-release && [ "$VERSION_ID" = 13 ]'
}

begin_small diversions
state > "$work/before"
mkdir -p "$root/debs/new" && cp "$build"/deb/{btrfs-policy_*,libbtrfs-policy0_*}.deb "$root/debs/new/"

try 'the packages install' install_debs new || done_testing
try 'both programs work' works
try 'the initramfs has both' initramfs_works
try 'reinstalled' install_debs new --reinstall
try 'both programs work' works
try 'removed' apt_in "$root" remove btrfs-policy
try 'all is as it was' diff "$work/before" <(state)
try 'installed again' install_debs new
try 'both programs work' works
if [ "$suite" = bookworm ]; then
	try 'Debian 12 becomes 13' next_release
	try 'both programs work' works
	try 'the initramfs has both' initramfs_works
	suite=trixie
fi
try 'an update of btrfs-progs' upgrade_progs
try 'both programs work' works
try 'purged' apt_in "$root" purge btrfs-policy
try 'no diversion is left' test -z "$(in_root "$root" dpkg-divert --list '*btrfs*')"
try 'btrfs is that of btrfs-progs' btrfs_is stock
try 'which is whole' in_root "$root" dpkg -V btrfs-progs
echo "# seconds in all: $SECONDS"
done_testing
