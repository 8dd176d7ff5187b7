#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The rpm spec and the PKGBUILD: linted, and built from the tarball with the tools that Debian has of
# them. Dependencies cannot be checked by name here; what is in the packages can.
set -u
. "$(dirname "$0")/lib.sh"

make_tarball() {
	make -s -C "$build" dist && cp "$build"/btrfs-policy-*.tar.xz "$work"
}

build_rpms() {
	rpmbuild -bb --nodeps --define "_topdir $work/rpm" --define "_sourcedir $work" \
		--define '_prefix /usr' --define '_sysconfdir /etc' "$top/packaging/rpm/btrfs-policy.spec"
}

# Those two are of Mageia and of long ago; udev's rules are in lib wherever libraries are.
lint_rpm() {
	cat > "$work/rpmlintrc" <<-'RC'
		addFilter("lib-package-without-%mklibname")
		addFilter("no-buildroot-tag")
		addFilter("hardcoded-library-path .*/udev/rules.d/")
	RC
	rpmlint -r "$work/rpmlintrc" "$top/packaging/rpm/btrfs-policy.spec"
}

rpms_have() {
	local file
	rpm -qlp "$work"/rpm/RPMS/*/*.rpm > "$work/list" 2>/dev/null
	for file; do
		grep -qx "$file" "$work/list" || { echo "no $file in:"; cat "$work/list"; return 1; }
	done
	! grep -x '/usr/s\?bin/btrfs' "$work/list"
}

# makepkg does not run as root, and asks pacman for what is installed. What root has in its environment, such as
# a cache for the compiler, may be out of its reach.
build_arch() {
	mkdir "$work/arch" && cp "$top/packaging/arch/PKGBUILD" "$work"/btrfs-policy-*.tar.xz "$work/arch" &&
	chmod 755 "$work" && chown -R nobody "$work/arch" &&
	(cd "$work/arch" && setpriv --reuid=nobody --regid=nogroup --clear-groups \
		env -i HOME="$work/arch" PATH=/usr/sbin:/usr/bin:/sbin:/bin PKGEXT=.pkg.tar makepkg --nodeps --nocheck --nosign)
}

arch_has() {
	local file
	tar -tf "$work"/arch/btrfs-policy-*.pkg.tar > "$work/list" 2>/dev/null || return
	for file; do
		grep -qx "$file" "$work/list" || { echo "no $file in:"; cat "$work/list"; return 1; }
	done
	! grep -x 'usr/s\?bin/btrfs' "$work/list"
}

skip_one() {
	ok "$1 # SKIP $2"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
try 'a tarball' make_tarball || done_testing
if command -v rpmbuild >/dev/null && command -v rpmlint >/dev/null; then
	try 'rpmlint finds nothing' lint_rpm
	try 'rpmbuild builds' build_rpms &&
		try 'the rpms have the commands, the library and what restores settings' \
			rpms_have /usr/bin/btrfs-policy /usr/include/btrfs-policy.h '/usr/lib.*/libbtrfs-policy.so.0' \
			/usr/lib/udev/rules.d/99-btrfs-policy.rules /usr/libexec/btrfs-policy/btrfs
else
	skip_one rpm 'no rpmbuild or rpmlint'
fi
if command -v makepkg >/dev/null && [ "$(id -u)" = 0 ]; then
	try 'makepkg builds' build_arch &&
		try 'the package has the commands, the library and what restores settings' \
			arch_has usr/bin/btrfs-policy usr/include/btrfs-policy.h usr/lib/libbtrfs-policy.so.0 \
			usr/lib/udev/rules.d/99-btrfs-policy.rules usr/lib/btrfs-policy/btrfs
else
	skip_one PKGBUILD 'no makepkg, or not root'
fi
done_testing
