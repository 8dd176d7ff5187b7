#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each case is one question about the patches in kernel/; needs a kernel source, not root.
set -u
ktree=$top_srcdir/kernel/ktree
tests=0

case_of() {
	local what=$1 status
	shift
	tests=$((tests + 1))
	"$@" 2>&1 | sed 's/^/# /'
	status=${PIPESTATUS[0]}
	[ "$status" -eq 0 ] && echo "ok $tests - $what" || echo "not ok $tests - $what"
}

# The core headers that make uses are those of the tree, not a copy that went its own way.
core_is_the_trees() {
	local dir
	dir=$(mktemp -d) || return
	"$top_srcdir/kernel/extract-core" "$dir" &&
		for header in "$dir"/*-core.h; do
			cmp "$header" "$("$ktree" path)/fs/btrfs/${header##*/}" || return
		done
	rm -rf "$dir"
}

# What benchmarks compare with stands on top of the series, and nothing else tries it.
rivals_apply() {
	git -C "$("$ktree" path)" apply --check "$(realpath "$top_srcdir")/tests/bench/rivals.patch"
}

second_run_changes_nothing() {
	local before after
	before=$("$ktree" build uml 2>/dev/null) && before=$(stat -c %Y "$before/linux") &&
	after=$("$ktree" build uml) && after=$(stat -c %Y "$after/linux") &&
	[ "$before" = "$after" ]
}

if [ -z "${KERNEL_SRC:-}" ] && [ ! -e /usr/src/linux-source-6.12.tar.xz ]; then
	echo '1..0 # SKIP no kernel source; apt install linux-source-6.12'
	exit 0
fi
case_of 'the series applies, exports to the same bytes and is checkpatch-clean' "$ktree" check
case_of 'the pure headers come out of the patches as they stand in the tree' core_is_the_trees
case_of 'the policies of the benchmark apply on top of it' rivals_apply
case_of 'a second build with nothing changed builds nothing' second_run_changes_nothing
echo "1..$tests"
