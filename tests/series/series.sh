#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each case is one question about the patches in kernel/; needs a kernel source, not root.
set -u
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
ktree=$top_srcdir/kernel/ktree
. "$top_srcdir/tests/tap.sh"

case_of() {
	local what=$1 status
	shift
	"$@" 2>&1 | sed 's/^/# /'
	status=${PIPESTATUS[0]}
	result "$status" "$what"
}

# A person applies complete patches to a stock tree, and has what is tested here.
patches_give_the_tree() {
	local dir topic
	dir=$(mktemp -d) || return
	for topic in '' fixes base roles read-policy scrub-send mq-deadline; do
		"$ktree" ${topic:+--topic "$topic"} patches "$dir/patches" || return
		rm -rf "$dir/stock" "$dir/files"
		stock_files "$dir" && git -C "$dir/stock" am -q "$dir"/patches/0*.patch || return
		same_files "$("$ktree" ${topic:+--topic "$topic"} path)" "$dir/stock" || return
		echo "${topic:-all}: $(wc -l < "$dir/patches/series") patches"
	done
	rm -rf "$dir"
}

deleted_tree_comes_back() {
	local tree
	tree=$("$ktree" --topic base path) && "$ktree" --topic base apply && rm -rf "$tree" &&
		"$ktree" --topic base apply && [ -e "$tree/fs/btrfs/tree-readahead.c" ]
}

# The folders that the series touches, as the distribution has them.
stock_files() {
	mkdir "$1/stock" &&
		git -C "$("$ktree" path)" archive base fs/btrfs block include/uapi/linux Documentation/block |
			tar -x -C "$1/stock" &&
		git -C "$1/stock" init -q && git -C "$1/stock" add -A -f && git -C "$1/stock" commit -q -m stock
}

same_files() {
	diff -r -q "$1/fs/btrfs" "$2/fs/btrfs" && diff -r -q "$1/block" "$2/block" &&
		diff -r -q "$1/include/uapi/linux" "$2/include/uapi/linux"
}

# A function that the series adds is written once, whatever kernel it is for.
source_is_there_once() {
	local twice
	twice=$(cd "$top_srcdir/kernel" && find . -name '*.[ch]' -printf '%f\n' | sort | uniq -d)
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
case_of 'the series applies, exports to the same bytes and is checkpatch-clean' "$ktree" check
case_of 'complete patches give the tree that is tested, all together and each topic alone' patches_give_the_tree
case_of 'the tree of a topic that was deleted is made again' deleted_tree_comes_back
case_of 'files of the series are there once' source_is_there_once
case_of 'the policies of the benchmark apply on top of it' rivals_apply
case_of 'the reverts of the storm apply on top of it' reverts_apply
case_of 'a second build with nothing changed builds nothing' second_run_changes_nothing
done_testing
