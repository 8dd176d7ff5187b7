#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The source package has every file of the repository but those of its own.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

git -C "$top_srcdir" rev-parse --git-dir >/dev/null 2>&1 || skip_all "not a git checkout"

all_files() {
	make -C "$top_builddir" distdir distdir="$T/dist" >"$T/log" 2>&1 || { tail -5 "$T/log"; return 1; }
	git -C "$top_srcdir" ls-files | grep -vE '^\.|/\.gitignore$' | sort >"$T/want"
	(cd "$T/dist" && find . ! -type d | sed 's|^\./||' | sort) >"$T/got"
	chmod -R u+w "$T/dist"
	! comm -23 "$T/want" "$T/got" | sed 's/$/ is not in the package; EXTRA_DIST of its folder/' | grep .
}

check "every file of the repository is in the source package" all_files
done_testing
