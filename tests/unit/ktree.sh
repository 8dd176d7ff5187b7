#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel/ktree loses no work: commits in its trees, changes in kernel/. On a kernel of two files.
set -uo pipefail

. "${top_srcdir:?}/tests/tap.sh"
temporary_folder ktree
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
export KERNEL_SRC=$T/source BTRFS_POLICY_CACHE=$T/cache
series=$T/kernel/6.12
tree=$T/cache/6.12/linux

mkdir -p "$T"/source/{fs/btrfs,block,include/uapi/linux,Documentation/block} "$T"/kernel/fs/btrfs "$series"/{fixes,base,roles}
cp "$top_srcdir/kernel/ktree" "$T/kernel"
printf 'kernelversion:\n\t@echo 6.12.1\n' >"$T/source/Makefile"
: >"$T/source/.gitignore"
seq 20 >"$T/source/fs/btrfs/super.c"
echo 6.12.1 >"$series/BASE"
echo 'int ours;' >"$T/kernel/fs/btrfs/ours.c"

# hook TOPIC LINE: a patch that adds a word to the line
hook() {
	(cd "$T/source" && cp fs/btrfs/super.c "$T/old" && sed -i "s/^$2\$/$2 $1/" fs/btrfs/super.c &&
		printf 'From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\nFrom: A <a@localhost>\nDate: Tue, 24 Nov 2026 11:00:00 +0000\nSubject: [PATCH] btrfs: %s\n\nText.\n\nSigned-off-by: A <a@localhost>\n---\n%s\n' \
			"$1" "${3:-}" >"$series/$1/0001-btrfs-$1.patch"
		diff -u --label a/fs/btrfs/super.c --label b/fs/btrfs/super.c "$T/old" fs/btrfs/super.c >>"$series/$1/0001-btrfs-$1.patch"
		cp "$T/old" fs/btrfs/super.c)
}
hook fixes 3
hook base 10
hook roles 17 'New-file: fs/btrfs/ours.c'

ktree() {
	"$T/kernel/ktree" "$@" >"$T/said" 2>&1
}

# work TREE WORD: a commit that changes a hook
work() {
	sed -i "s/^20.*/20 $2/" "$1/fs/btrfs/super.c" && git -C "$1" commit -qam "btrfs: $2

Topic: roles"
}

try 'apply' ktree apply || bail_out "$(cat "$T/said")"
is "$(sed -n 17p "$tree/fs/btrfs/super.c")" '17 roles' 'the hooks are there'
is "$(cat "$tree/fs/btrfs/ours.c")" 'int ours;' 'and the file of the series'

work "$tree" first
echo 'int newer;' >"$T/kernel/fs/btrfs/ours.c"
refuse 'another apply would lose a commit' ktree apply
refuse 'export would lose what was edited in kernel/ since' ktree export
try 'which it says' grep -F 'was changed since' "$T/said"
is "$(cat "$T/kernel/fs/btrfs/ours.c")" 'int newer;' 'it is still there'
echo 'int ours;' >"$T/kernel/fs/btrfs/ours.c"
try 'put aside, export works' ktree export
is "$(find "$series/roles" -name '*.patch' | wc -l)" 2 'the commit is a patch'
echo 'int newer;' >"$T/kernel/fs/btrfs/ours.c"
try 'and apply, with the edit' ktree apply
is "$(cat "$tree/fs/btrfs/ours.c") $(sed -n 20p "$tree/fs/btrfs/super.c")" 'int newer; 20 first' 'both are in the tree'

cp -a "$T/kernel" "$T/whole"
sed -i 's/^ 16/ sixteen/' "$series/roles"/0001*.patch
refuse 'a hook that does not fit' ktree --force apply
refuse 'after that there is nothing to export' ktree --force export
try 'which it says' grep -F 'nothing to export' "$T/said"
is "$(find "$series" -name '*.patch' | wc -l)" 4 'and the patches are still there'
rm -rf "$T/kernel"
mv "$T/whole" "$T/kernel"
try 'mended, it fits' ktree --force apply

try 'a topic has a tree of its own' ktree --topic base apply
work "$tree-base" second
touch -d tomorrow "$T/source"
refuse 'a new source would lose the commit there' ktree apply
try 'which is named' grep -F "'$tree-base' holds work" "$T/said"
refuse 'so would clean' ktree clean
try 'by force it goes' ktree --force clean
is "$(ls "$T/cache/6.12")" lock 'but not the lock, for which others may wait'
done_testing
