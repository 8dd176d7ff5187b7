#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The folders of the library and of the commands: the include arrows between them, computed from the
# sources, have no circle; only the backend calls ioctl or names /sys; the toolkit of the commands
# knows nothing of btrfs.
set -uo pipefail

lib=$top_srcdir/libbtrfs-policy
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tap.sh"

# "FROM TO" for each pair of folders inside the folder $1.
arrows() {
	local file from
	for file in "$1"/*/*.[ch]; do
		from=${file%/*}
		from=${from##*/}
		sed -nE 's/^#include "(cmds\/)?([a-z]+)\/[^"]*".*/\2/p; s/^#include "btrfs-policy.*"/include/p' "$file" |
			sed "s/^/$from /"
	done | sort -u | awk '$1 != $2'
}

# Fails on a circle, with the folders on it.
no_circle() {
	tsort "$1" > "$dir/order" 2> "$dir/why" && [ ! -s "$dir/why" ]
}

arrows "$lib" > "$dir/arrows"
echo "# $(wc -l < "$dir/arrows") arrows between $(cut -d' ' -f1 "$dir/arrows" | sort -u | wc -l) folders"
no_circle "$dir/arrows"
result $? 'the folders of the library include each other without a circle' "$dir/why"

cp "$dir/arrows" "$dir/circle"
echo 'core suggest' >> "$dir/circle"
! no_circle "$dir/circle"
result $? 'a circle would be found' "$dir/why"

# Without the folder in it, a name says nothing about the arrow.
grep -nE '^#include "' "$lib"/*/*.[ch] | grep -v kernel-headers |
	grep -vE '"(include|core|backend|offline|settings|allocator|balance|suggest)/[a-z-]+\.h"|"btrfs-policy[a-z-]*\.h"|"device-role-core\.h"' > "$dir/why"
[ ! -s "$dir/why" ]
result $? 'every include names its folder' "$dir/why"

ls "$lib"/*.[ch] > "$dir/why" 2> /dev/null
[ ! -s "$dir/why" ]
result $? 'every file of the library is in a folder' "$dir/why"

# Comments go first, then everything that is not a call, a header or a text that begins with /sys.
for file in "$lib"/*/*.[ch]; do
	case $file in "$lib"/backend/*) continue ;; esac
	sed -e 's@/\*.*\*/@@' -e '/\/\*/,/\*\//d' "$file" |
		grep -nE '\bioctl\(|<sys/ioctl\.h>|"/sys' |
		grep -v 'define BP_SYSFS' | sed "s@^@${file#"$lib"/}: @"
done > "$dir/why"
[ ! -s "$dir/why" ]
result $? 'only backend/ calls ioctl or opens files of /sys, by the sources' "$dir/why"

for object in "$top_builddir"/libbtrfs-policy/*/.libs/*.o; do
	case $object in */backend/.libs/*) continue ;; esac
	nm -u "$object" | grep -wE 'ioctl|btrfs_util_[a-z_]+' | sed "s@^ *@${object##*/}: @"
done > "$dir/why"
nm -u "$top_builddir"/libbtrfs-policy/backend/.libs/*.o | grep -w ioctl >/dev/null && [ ! -s "$dir/why" ]
result $? 'only backend/ calls ioctl, by the objects' "$dir/why"

grep -nE 'btrfs_policy|btrfs-policy|#include "cmds/[^c]' "$top_srcdir"/cmds/cli/*.[ch] > "$dir/why"
[ ! -s "$dir/why" ]
result $? 'the toolkit of the commands knows nothing of btrfs and of the commands' "$dir/why"

done_testing
