#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `make install` where the distribution has a btrfs: in folders of their own and where
# sbin is a link to bin, as on Arch Linux and Fedora 42.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

run_make() {	# ROOT TARGET...
	local root=$1
	shift
	env -u MAKEFLAGS -u MAKELEVEL make -s -C "$top_builddir" "$@" DESTDIR="$root" prefix=/usr \
		sysconfdir=/etc >"$T/make" 2>&1 || { tail "$T/make"; return 1; }
}

theirs=$'#!/bin/sh\necho theirs\n'

# A root as a distribution has it; sbin is what follows: a folder or a link.
distribution() {	# ROOT link|folder
	mkdir -p "$1/usr/bin"
	if [ "$2" = link ]; then ln -s bin "$1/usr/sbin"; else mkdir "$1/usr/sbin"; fi
	printf %s "$theirs" >"$1/usr/bin/btrfs"
	chmod 755 "$1/usr/bin/btrfs"
}

still_theirs() {
	[ "$("$1/usr/bin/btrfs")" = theirs ] || { echo "$1/usr/bin/btrfs is not theirs any more"; return 1; }
}

keeps() {
	local kind root
	for kind in link folder; do
		root=$T/$kind
		distribution "$root" $kind
		run_make "$root" install && still_theirs "$root" &&
		grep -q "frontdir=" "$T/make" && [ -x "$root/usr/bin/btrfs-policy" ] &&
		run_make "$root" uninstall && still_theirs "$root" &&
		[ ! -e "$root/usr/bin/btrfs-policy" ] || { cat "$T/make"; return 1; }
	done
}

elsewhere() {
	local root=$T/elsewhere
	distribution "$root" link
	run_make "$root" install frontdir=/usr/libexec/btrfs-policy && still_theirs "$root" &&
	cmp "$root/usr/libexec/btrfs-policy/btrfs" "$top_builddir/cmds/btrfs"
}

# Where none is, the front is in the same folder as the program, and is replaced by a newer one.
own_folder() {
	local root=$T/own
	run_make "$root" install && cmp "$root/usr/bin/btrfs" "$top_builddir/cmds/btrfs" &&
	echo older >>"$root/usr/bin/btrfs" && run_make "$root" install &&
	cmp "$root/usr/bin/btrfs" "$top_builddir/cmds/btrfs" && run_make "$root" uninstall &&
	[ ! -e "$root/usr/bin/btrfs" ]
}

check "a btrfs that is not ours stays, with a word about it" keeps
check "the front goes where it is wanted" elsewhere
check "without one, the front is installed, replaced and taken away" own_folder
done_testing
