#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# debian/tests with Debian's own program for them, in a Debian in a folder that has the kernel.
set -u
. "$(dirname "$0")/lib.sh"

# Its limits are for machines that have nothing else to do.
run_tests() {
	mkdir "$work/source" && cp -a "$top/debian" "$work/source/" &&
	in_namespace "$root" autopkgtest --summary="$work/summary" --no-built-binaries --timeout-factor=20 \
		"$build"/deb/*.deb "$work/source/" -- chroot "$root"
}

begin autopkgtest autopkgtest
try 'autopkgtest' run_tests
for test in $(sed -n 's/^Tests: //p' "$top/debian/tests/control"); do
	try "$test passed" grep -E "^$test +PASS" "$work/summary"
done
done_testing
