#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The source package has every file of the repository but those of its own; what packaging/deb leaves.
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

# Packages of others beside ours, and ours of the build before. The build itself is made up.
other_packages() {
	mkdir "$T/bin" "$T/debs"
	printf '#!/bin/bash\ntouch ../{lib,}btrfs-policy_2.{deb,buildinfo,changes}\n' >"$T/bin/dpkg-buildpackage"
	printf '#!/bin/sh\n' >"$T/bin/dpkg-parsechangelog"
	chmod 755 "$T/bin"/*
	touch "$T/debs"/{mine.deb,mine.changes,btrfs-progs.deb,{lib,}btrfs-policy_1.{deb,buildinfo,changes}}
	PATH=$T/bin:$PATH "$top_srcdir/packaging/deb" "$T/debs" &&
		(cd "$T/debs" && echo *.changes *.deb) >"$T/got" &&
		echo btrfs-policy_2.changes libbtrfs-policy_2.changes mine.changes btrfs-policy_2.deb btrfs-progs.deb \
			libbtrfs-policy_2.deb mine.deb | diff - "$T/got"
}

check "packaging/deb replaces its own packages only" other_packages
check "every file of the repository is in the source package" all_files
done_testing
