#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The library as somebody else finds it: installed, through pkg-config, in C and in
# C++; the example of the documentation runs, and the page names every function.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

command -v pkg-config >/dev/null || skip_all "no pkg-config"
uuid=b7f5c0de-1ab0-4d15-8000-0000000000fe
root=$T/root

install_it() {
	make -C "$top_builddir" install DESTDIR="$root" >"$T/log" 2>&1 || { tail -5 "$T/log"; return 1; }
	pc=$(find "$root" -name libbtrfs-policy.pc)
	# Nobody has to have the development packages of what it uses itself.
	[ -n "$pc" ] && export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_LIBDIR=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$root
}

flags() {
	pkg-config "$@" libbtrfs-policy
}

version() {
	[ "$(flags --modversion)" = "$(cat "$top_srcdir/VERSION")" ]
}

compile() {	# LANGUAGE COMPILER
	# shellcheck disable=SC2046
	"$2" -x "$1" -Wall -Wextra -Werror -o "$T/example-$1" "$top_srcdir/Documentation/man/example.c" \
		$(flags --cflags) $(grep -o -- '-fsanitize=[^ ]*' "$top_builddir/Makefile" | head -1) \
		$(flags --libs)
}

c() { compile c "${CC:-cc}"; }
cxx() { compile c++ "${CXX:-c++}"; }

run() {
	LD_LIBRARY_PATH=${PKG_CONFIG_PATH%/pkgconfig} "$T/example-c" "$@"
}

runs() {
	truncate -s 256M "$T/image.1" "$T/image.2"
	mkfs.btrfs -q -f -U $uuid -d raid1 -m raid1 "$T/image.1" "$T/image.2" >/dev/null 2>&1 || return 1
	run --offline "$T/image.1" "$T/image.2" >"$T/out" &&
	[ "$(sed "s|$T/||" "$T/out" | cut -d' ' -f1-3)" = '1 image.1 data-preferred
2 image.2 data-preferred' ] && ! grep -q 'metadata=0$' "$T/out" &&
	run --offline "$T/image.1" | grep -q '^2 missing ' &&
	! run --offline /dev/null >"$T/out" 2>"$T/err" && [ ! -s "$T/out" ] &&
	grep -q "neither a block device nor an image" "$T/err" &&
	! run /proc 2>"$T/err" && grep -q "^'/proc' is not on a btrfs file system" "$T/err"
}

# Needs nothing at run time but what the package says.
soname() {
	readelf -d "$T/example-c" | grep -q 'NEEDED.*libbtrfs-policy\.so\.0\]'
}

documented() {
	local name bad=0
	while read -r name; do
		grep -qF "\`\`$name\`\`" "$top_srcdir/Documentation/man/libbtrfs-policy.rst" ||
			{ echo "$name is not in the page"; bad=1; }
	done < <(sed -n 's/^\t\(btrfs_policy_.*\);/\1/p' "$top_srcdir/libbtrfs-policy/libbtrfs-policy.sym")
	while read -r name; do
		grep -qF "	$name;" "$top_srcdir/libbtrfs-policy/libbtrfs-policy.sym" ||
			{ echo "$name is only in the page"; bad=1; }
	done < <(grep -o '``btrfs_policy_[a-z_]*``' "$top_srcdir/Documentation/man/libbtrfs-policy.rst" | tr -d '`')
	return $bad
}

check "it is installed with its pkg-config file" install_it
check "pkg-config knows the version" version
check "the example compiles in C" c
if command -v "${CXX:-c++}" >/dev/null; then
	check "the example compiles in C++" cxx
else
	result 0 "C++ # SKIP no compiler"
fi
if command -v mkfs.btrfs >/dev/null; then
	check "the example runs" runs
else
	result 0 "the example runs # SKIP no mkfs.btrfs"
fi
check "it is bound to the library by its soname" soname
check "the manual names every function and no other" documented
done_testing
