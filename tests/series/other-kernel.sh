#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# KERNEL=VERSION LAB_TESTS=FILES: the series for another kernel than the default
# one, from its source to every test of the lab on it.
# Owns the order, and kernel-VERSION.tap in the build folder.
# Each result of a test in there is one here.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
kernel=${KERNEL:-}
export LAB_KERNEL=$kernel LAB_CONFIG=${LAB_CONFIG:-uml-experimental}
. "$top/tests/series/lib.sh"

run() {
	local topic

	step 'the series applies, exports to the same bytes and is checkpatch-clean' \
		"$top/kernel/ktree" --kernel "$kernel" check || return
	for topic in "$top/kernel/$kernel"/*/; do
		topic=$(basename "$topic")
		step "$topic applies without the topics that it does not build on" \
			"$top/kernel/ktree" --kernel "$kernel" --topic "$topic" apply
	done
	step 'complete patches give the tree that is tested, all together and each topic alone' patches_give_the_tree "$kernel"
	step 'every patch builds alone without a warning' "$top/kernel/ktree" --kernel "$kernel" check --build
	step 'the kernel builds' "$top/kernel/ktree" --kernel "$kernel" build "$LAB_CONFIG" || return
	step 'the disks of the lab build' "$top/tests/lab/machine/lab" build || return
	run_cases $LAB_TESTS
}

if [ ! -e "$top/kernel/$kernel/BASE" ]; then
	echo "Bail out! no series for kernel '$kernel'; KERNEL= one of $(cd "$top/kernel" && echo [0-9]*)"
	exit 1
fi
reason=$("$top/kernel/fetch-source" "$kernel" 2>&1 >/dev/null)
case $? in
0) ;;
77) echo "1..0 # SKIP $(tail -n 1 <<< "$reason")"; exit 0 ;;
*) echo "Bail out! kernel/fetch-source $kernel: $(tail -n 1 <<< "$reason")"; exit 1 ;;
esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export dir top
export -f run_test
mkdir -p "$top_builddir/tests/series"
tap=$top_builddir/tests/series/kernel-$kernel.tap
{
	run
	echo "1..$tap_n"
} > "$tap.new"
mv "$tap.new" "$tap"
cat "$tap"
