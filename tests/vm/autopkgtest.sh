#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# debian/tests with Debian's own program for them, in a Debian in a folder that has the kernel.
set -u
. "$(dirname "$0")/lib.sh"

run_tests() {
	mkdir "$work/source" && cp -a "$top/debian" "$work/source/" &&
	in_namespace "$root" autopkgtest --summary="$work/summary" --no-built-binaries \
		"$build"/deb/*.deb "$work/source/" -- chroot "$root"
}

need_tools autopkgtest mmdebstrap zstd
kernel=$(offered_kernels | tail -n 1)
check "Debian $suite offers Linux 6.12" test -n "$kernel" || finish
work=$(mktemp -d "$(fast_folder)/autopkgtest.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/root
check "Debian $suite with Linux $kernel" base_archive "$kernel" || finish
mkdir "$root" && tar -xf "$(base_archive "$kernel")" -C "$root"

check 'autopkgtest' run_tests
for test in $(sed -n 's/^Tests: //p' "$top/debian/tests/control"); do
	check "$test passed" grep -E "^$test +PASS" "$work/summary"
done
finish
