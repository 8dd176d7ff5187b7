#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# quickstart while another apt holds one of its locks: it says so, waits, and goes on. In a small Debian whose
# only source is a folder with the package that it wants.
set -u
. "$(dirname "$0")/lib.sh"

package_source() {
	mkdir -p "$work/wanted/DEBIAN" "$root/debs/source" "$root/top/share" &&
	printf '%s\n' 'Package: wanted' 'Version: 1' 'Architecture: all' 'Maintainer: nobody <nobody@localhost>' \
		'Description: what quickstart installs here' > "$work/wanted/DEBIAN/control" &&
	dpkg-deb --root-owner-group -b "$work/wanted" "$root/debs/source" &&
	(cd "$root/debs/source" && dpkg-scanpackages . > Packages) &&
	rm -rf "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/* &&
	echo 'deb [trusted=yes] file:/debs/source ./' > "$root/etc/apt/sources.list.d/source.list" &&
	cp "$top/quickstart" "$root/top/" && echo wanted > "$root/top/share/quickstart-packages" &&
	: > "$root/top/share/deb-packages"
}

# holds FILE: has the lock as apt takes it until its stdin ends.
holds() {
	python3 -c 'import fcntl, sys
with open(sys.argv[1], "a") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()' "$1"
}

# It ends with an error, as there is nothing to build in that folder.
run_quickstart() {
	in_root "$root" /top/quickstart deb > "$work/out" 2>&1
	echo ended >> "$work/out"
}

is_installed() {
	[ "$(in_root "$root" dpkg-query -W -f '${db:Status-Status}' wanted)" = installed ]
}

# waits LOCK: the lock is let go when quickstart has said something of it, or has ended.
waits() {
	local lock=$1 pid
	in_root "$root" dpkg -P wanted >/dev/null 2>&1
	mkdir -p "$root/${lock%/*}"
	: > "$work/out"
	coproc HOLDER { holds "$root/$lock"; }
	read -r -u "${HOLDER[0]}"
	run_quickstart &
	pid=$!
	until grep -q "^ended\|Waiting for another apt to end: Could not get lock /$lock" "$work/out"; do sleep 0.2; done
	eval "exec ${HOLDER[1]}>&-"
	wait "$pid"
	cat "$work/out"
	grep -q "Waiting for another apt" "$work/out" && is_installed
}

fails_otherwise() {
	echo none-such > "$root/top/share/deb-packages"
	run_quickstart
	cat "$work/out"
	grep -q "apt-get install .* failed: E: Unable to locate package none-such" "$work/out"
}

begin_small quickstart
try 'a folder with a package' package_source || done_testing
for lock in var/lib/apt/lists/lock var/lib/dpkg/lock-frontend var/cache/apt/archives/lock; do
	try "/$lock is waited for" waits "$lock"
done
try 'any other failure is told' fails_otherwise
done_testing
