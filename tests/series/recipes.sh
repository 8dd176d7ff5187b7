#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The recipes of Documentation/other-kernels.md, line by line as they stand there, on the parts of the
# kernel's source that the series touches. All of them have to give the same tree, and to go back.
set -u
. "$(dirname "$0")/../vm/lib.sh"

doc=$top/Documentation/other-kernels.md
archive=/usr/src/linux-source-6.12.tar.xz
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
export QUILT_PATCHES=debian/patches QUILTRC=-

folders() {
	sed -n 's|^diff --git a/\([^ ]*\)/[^/]* .*|linux-source-6.12/\1|p' "$top"/kernel/6.12/0*.patch | sort -u
}

unpack() {
	mkdir "$work/stock" && tar -xf "$archive" -C "$work/stock" --strip-components=1 $(folders)
}

copy_of_stock() {
	rm -rf "${work:?}/$1" && cp -a "$work/stock" "$work/$1" && cd "$work/$1"
}

# The one line of the page that has these words, with the place of the series in it.
recipe() {
	local line
	line=$(grep -F -- "$1" "$doc" | sed -n 's/^    //p')
	[ "$(wc -l <<< "$line")" = 1 ] && [ -n "$line" ] || { echo "not one line of the page: $1" >&2; return 1; }
	sed "s|…|$top|g" <<< "$line"
}

runs() {
	local line
	line=$(recipe "$1") && echo "$line" && bash -ec "$line"
}

in_git() {
	git init -q && git add -A && git commit -q -m stock
}

by_git() {
	copy_of_stock git && in_git && runs 'git am …/kernel/6.12/0*' && [ -z "$(git status --porcelain)" ]
}

# A tree where one of the patches finds other code than it wants.
git_refuses() {
	local patch file
	patch=$(sed '/^#/d' "$top/kernel/6.12/series" | sed -n 3p)
	copy_of_stock refused
	file=$(sed -n 's|^+++ b/||p' "$top/kernel/6.12/$patch" | xargs ls 2>/dev/null | head -n 1)
	sed -i 's/^\t/\t\t/' "$file"
	in_git && ! runs 'git am …/kernel/6.12/0*' && git am --abort && [ "$(git log --format=%s)" = stock ] &&
		[ -z "$(git status --porcelain)" ]
}

# A distribution's own patch comes first.
by_quilt() {
	copy_of_stock quilt && mkdir -p debian/patches &&
		printf -- '--- /dev/null\n+++ b/distribution\n@@ -0,0 +1 @@\n+own\n' > debian/patches/own.patch &&
		echo own.patch > debian/patches/series &&
		quilt push -a && runs 'quilt import …'
}

goes_back_by_quilt() {
	cd "$work/quilt" && quilt pop -a && same_trees stock quilt
}

by_patch() {
	copy_of_stock patch && runs 'do patch -p1 -F0'
}

# The left column of the table, without its two head lines.
stops() {
	sed -n '/^| up to and with/,/^$/p' "$doc" | sed -e 1,2d -e '/^$/d' -e 's/^| //' -e 's/ |.*//' -e 's/, and after it$//'
}

subjects() {
	sed '/^#/d' "$top/kernel/6.12/series" | while read -r patch; do
		sed -n '/^Subject:/,/^$/p' "$top/kernel/6.12/$patch" | tr -d '\n' | sed -e 's/^Subject: \[PATCH\] //' -e 's/^btrfs: //'
		echo
	done
}

stops_are_patches() {
	local stop at before=0
	while read -r stop; do
		at=$(subjects | grep -nxF "$stop" | cut -d: -f1)
		echo "$stop: patch ${at:-?}"
		[ -n "$at" ] && [ "$at" -gt "$before" ] || return
		before=$at
	done < <(stops)
	[ "$before" -gt 0 ]
}

stops_early() {
	copy_of_stock early && in_git && runs 'all of roles' &&
		[ "$(git log -1 --format=%s)" = "btrfs: $(stops | sed -n 2p)" ]
}

same_trees() {
	diff -r -q -x .git -x .pc -x debian -x distribution "$work/$1" "$work/$2"
}

series_is_in() {
	[ -e "$work/$1/fs/btrfs/device-role.c" ] && [ -e "$work/$1/fs/btrfs/read-policy.c" ]
}

for tool in git quilt patch; do
	command -v "$tool" >/dev/null || skip_all "no $tool; share/deb-packages lists what is wanted"
done
[ -e "$archive" ] || skip_all 'no kernel source; apt install linux-source-6.12'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check 'the source' unpack || finish
check 'git am' by_git
check 'the series is in' series_is_in git
check 'git am stops where a patch does not fit, and goes back' git_refuses
check 'git am of a part of it' stops_early
check 'the page names patches that there are, in their order' stops_are_patches
check 'quilt, after a patch of the distribution' by_quilt
check 'gives the same tree' same_trees git quilt
check 'quilt pop -a goes back' goes_back_by_quilt
check 'patch' by_patch
check 'gives the same tree' same_trees git patch
finish
