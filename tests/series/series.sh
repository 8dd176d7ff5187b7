#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each case is one question about the patches in kernel/; needs a kernel source, not root.
set -u
top=$top_srcdir
ktree=$top/kernel/ktree
. "$top/tests/series/lib.sh"

deleted_tree_comes_back() {
	local tree
	tree=$("$ktree" --topic base path) && "$ktree" --topic base apply && rm -rf "$tree" &&
		"$ktree" --topic base apply && [ -e "$tree/fs/btrfs/tree-readahead.c" ]
}

complete_patches() {
	step "Linux $1: complete patches give the tree that is tested, all together and each topic alone" patches_give_the_tree "$1"
}

# A function that the series adds is written once, whatever kernel it is for.
source_is_there_once() {
	local twice
	twice=$(cd "$top/kernel" && find . -name '*.[ch]' -printf '%f\n' | sort | uniq -d)
	[ -z "$twice" ] || { echo "$twice"; return 1; }
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

# The patches of check-storm-reverts still apply.
reverts_apply() {
	local patch tree
	tree=$("$ktree" path) || return
	for patch in "$top_srcdir"/tests/storm/reverts/*.patch; do
		git -C "$tree" apply --check "$(realpath "$patch")" || return
	done
}

if [ -z "${KERNEL_SRC:-}" ] && [ ! -e /usr/src/linux-source-6.12.tar.xz ]; then
	echo '1..0 # SKIP no kernel source; apt install linux-source-6.12'
	exit 0
fi
step 'the series applies, exports to the same bytes and is checkpatch-clean' "$ktree" check
each_kernel complete_patches
step 'the tree of a topic that was deleted is made again' deleted_tree_comes_back
step 'files of the series are there once' source_is_there_once
step 'the policies of the benchmark apply on top of it' rivals_apply
step 'the reverts of the storm apply on top of it' reverts_apply
step 'a second build with nothing changed builds nothing' second_run_changes_nothing
done_testing
