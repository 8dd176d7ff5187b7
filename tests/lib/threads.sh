#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Threads with a handle each, first with the thread sanitizer, then without.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

images=()
if command -v mkfs.btrfs >/dev/null; then
	images=("$T/a" "$T/b")
	truncate -s 256M "${images[@]}"
	mkfs.btrfs -q -f -m raid1 "${images[@]}" >/dev/null 2>&1 || bail_out 'mkfs.btrfs fails'
fi

# Where the kernel spreads addresses further than the sanitizer expects, not so here.
tsan() {
	TSAN_OPTIONS=halt_on_error=1 setarch -R "$top_builddir/tests/lib/threads-tsan" "${images[@]}"
}

plain() {
	"$top_builddir/tests/lib/threads" "${images[@]}"
}

check "eight threads with a handle each" plain
if ! [ -x "$top_builddir/tests/lib/threads-tsan" ]; then
	result 0 "thread sanitizer # SKIP the build has other sanitizers"
elif setarch -R "$top_builddir/tests/lib/threads-tsan" 2>&1 |
		grep -q 'unexpected memory mapping'; then
	result 0 "thread sanitizer # SKIP it does not work on this kernel"
else
	check "nothing is shared: thread sanitizer" tsan
fi
done_testing
