#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# debian/ under the debhelper of Debian 12 and that of 13, on a made-up installation: nothing is built.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
temporary_folder debian

for tool in perl dpkg-architecture apt-get; do
	command -v "$tool" >/dev/null || skip_all "no $tool"
done

# unpack_debhelper SUITE: leaves it in $debhelper.
unpack_debhelper() {
	local suite=$1
	debhelper=$cache/debhelper-$suite
	[ ! -x "$debhelper/usr/bin/dh_install" ] || return 0
	mkdir -p "$debhelper/debs" && suite_apt apt-get update >/dev/null &&
	(cd "$debhelper/debs" && suite_apt apt-get download debhelper libdebhelper-perl >/dev/null &&
		for deb in *.deb; do dpkg-deb -x "$deb" .. || return; done)
}

dh() {
	local command=$1
	shift
	(cd "$T/source" && DH_AUTOSCRIPTDIR=$debhelper/usr/share/debhelper/autoscripts PERL5LIB=$debhelper/usr/share/perl5 \
		perl "$debhelper/usr/bin/$command" "$@" 2>&1)
}

source_package() {
	local file folder=$T/source/debian/tmp
	rm -rf "$T/source"
	mkdir -p "$T/source" && cp -a "$top/debian" "$T/source/"
	for file in lib/systemd/system/btrfs-policy-restore.service share/man/man{3/library.3,5/file.5,7/kernel.7,8/command.8}; do
		mkdir -p "$folder/usr/${file%/*}" && echo "$file" >"$folder/usr/$file"
	done
	cp "$top/share/systemd/btrfs-policy-restore.service.in" "$folder/usr/lib/systemd/system/btrfs-policy-restore.service"
}

# units [COMMAND]: by default the line of debian/rules, in the package that has the units
units() {
	local -a command=("$@")
	mkdir -p "$T/source/debian/btrfs-policy" && cp -a "$T"/source/debian/tmp/* "$T/source/debian/btrfs-policy/"
	[ $# -gt 0 ] || read -r -a command < <(sed -n 's/^\tdh_installsystemd/dh_installsystemd/p' "$top/debian/rules")
	dh "${command[@]:-dh_installsystemd}"
}

# Calls of systemctl in the scripts for an installation or an upgrade.
starts() {
	cat "$T"/source/debian/btrfs-policy.{pre,post}inst.debhelper "$T"/source/debian/btrfs-policy.prerm.debhelper \
		"$T"/source/debian/.debhelper/generated/btrfs-policy/{preinst,postinst,prerm}* 2>/dev/null |
		grep -E 'systemctl|deb-systemd-(invoke|helper)'
}

pages_of() {
	(cd "$T/source/debian/$1" 2>/dev/null && find . -path '*/man/*' -type f -printf '%f\n' | sort | tr '\n' ' ')
}

# The install files name more than the made-up installation has; those for manual pages alone.
pages() {
	sed -i '/usr\/share\/man/!d' "$T"/source/debian/*.install
	rm -f "$T"/source/debian/*.docs
	dh dh_install
}

depends() {
	sed -n "/^Package: $1\$/,/^\$/p" "$top/debian/control" | grep -qF "libbtrfs-policy0 (= \${binary:Version})"
}

# Where postrm removes the sources that are kept for older kernels.
postrm() {
	mkdir -p "$T/cache"
	sed "s|/var/cache/btrfs-policy-dkms|$T/cache|" "$top/debian/btrfs-policy-dkms.postrm" >"$T/postrm"
	sh "$T/postrm" "$1"
}

for release in bookworm trixie; do
	try "the debhelper of Debian $release" unpack_debhelper "$release" || done_testing
	unpack_debhelper "$release"
	source_package
	try "$release: the units" units
	is "$(starts)" '' "$release: no installation and no upgrade starts or stops one"
	# The debhelper of Debian 12 finds units in lib/ only.
	source_package
	cp -r "$T/source/debian/tmp/usr/lib" "$T/source/debian/tmp/"
	units dh_installsystemd >"$T/said"
	[ -n "$(starts)" ]
	result $? "$release: without options they would" "$T/said"
	source_package
	try "$release: manual pages" pages
	is "$(pages_of btrfs-policy)- $(pages_of libbtrfs-policy-dev)" 'command.8 file.5 kernel.7 - library.3 ' \
		"$release: those of the library are in its development package"
done
for package in btrfs-policy libbtrfs-policy-dev; do
	try "$package depends on the library of its version" depends "$package"
done
postrm remove
try 'removal keeps the sources of older kernels' test -d "$T/cache"
postrm purge
try 'a purge does not' test ! -e "$T/cache"
done_testing
