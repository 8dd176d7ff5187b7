#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The recipes of Documentation/guide/other-kernels.md, line by line as they stand there, on the parts of the
# kernel's source that the series touches. All of them have to give the same tree, and to go back.
set -u
. "$(dirname "$0")/../installed/lib.sh"

doc=$top/Documentation/guide/other-kernels.md
archive=/usr/src/linux-source-6.12.tar.xz
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
export QUILT_PATCHES=debian/patches QUILTRC=-

# As ./quickstart patches does.
write_patches() {
	local topic
	"$top/kernel/ktree" patches "$patches" || return
	for topic in fixes base roles read-policy scrub-send move-stripe superblocks mq-deadline; do
		"$top/kernel/ktree" --topic "$topic" patches "$patches/$topic" || return
	done
}

folders() {
	sed -n 's|^diff --git a/\([^ ]*\)/[^/]* .*|linux-source-6.12/\1|p' "$patches"/0*.patch | sort -u
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
	sed "s|…/build|$work|g" <<< "$line"
}

runs() {
	local line
	line=$(recipe "$1") && echo "$line" && bash -ec "$line"
}

in_git() {
	git init -q && git add -A && git commit -q -m stock
}

by_git() {
	copy_of_stock git && in_git && runs 'git am …/build/patches/6.12/0*' && [ -z "$(git status --porcelain)" ]
}

# A tree where one of the patches finds other code than it wants.
git_refuses() {
	local patch file
	patch=$(sed -n 3p "$patches/series")
	copy_of_stock refused
	file=$(sed -n 's|^+++ b/||p' "$patches/$patch" | xargs ls 2>/dev/null | head -n 1)
	sed -i 's/^\t/\t\t/' "$file"
	in_git && ! runs 'git am …/build/patches/6.12/0*' && git am --abort && [ "$(git log --format=%s)" = stock ] &&
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

# Roles alone, as the page has it.
roles_alone() {
	copy_of_stock roles && in_git && runs 'git am …/build/patches/6.12/roles/0*' &&
		[ -e fs/btrfs/device-role-core.c ] && [ ! -e fs/btrfs/read-policy.c ]
}

# topics of the page's table are those that there are.
topics_of_page() {
	diff <(sed -n 's/^| `\([a-z-]*\)` | .*/\1/p' "$doc" | sort) \
		<(cd "$patches" && find . -mindepth 1 -type d -printf '%f\n' | sort)
}

same_trees() {
	diff -r -q -x .git -x .pc -x debian -x distribution "$work/$1" "$work/$2"
}

series_is_in() {
	[ -e "$work/$1/fs/btrfs/device-role-core.c" ] && [ -e "$work/$1/fs/btrfs/read-policy.c" ]
}

for tool in git quilt patch; do
	command -v "$tool" >/dev/null || skip_all "no $tool; share/deb-packages lists what is wanted"
done
[ -e "$archive" ] || skip_all 'no kernel source; apt install linux-source-6.12'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
patches=$work/patches/6.12
try 'the patches' write_patches || done_testing
try 'the source' unpack || done_testing
try 'git am' by_git
try 'the series is in' series_is_in git
try 'git am stops where a patch does not fit, and goes back' git_refuses
try 'git am of one topic' roles_alone
try 'the page has the topics that there are' topics_of_page
try 'quilt, after a patch of the distribution' by_quilt
try 'gives the same tree' same_trees git quilt
try 'quilt pop -a goes back' goes_back_by_quilt
try 'patch' by_patch
try 'gives the same tree' same_trees git patch
done_testing
