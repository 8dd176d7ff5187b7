#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Do the tests notice?  Breaks one decision at a time, as tests/mutate/*.txt say, in
# a build of its own, and runs tests until one fails.  What no test notices is
# "not ok".  Usage: mutate.sh [REGEX]: only what breaks where the description fits.
# lists.sh explains the lists.
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
chosen=${1:-}
T=$(mktemp -d "${TMPDIR:-/tmp}/mutate.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT

. "$source/tests/tap.sh"
. "$here/lists.sh"

# Copies of sources in the build folder come before those of the source folder.
restore() {
	mkdir -p "$T/${1%/*}"
	cp "$source/$1" "$T/$1"
}

build() {	# TEST...
	make -C "$T" "$@" >"$T/make.log" 2>&1
}

# Scripts run the commands, programs have everything inside.
targets() {
	local test

	for test in "$@"; do
		case $test in
		*.sh) echo tests/cli/fake-btrfs-policy ;;
		*) echo "$test" ;;
		esac
	done
}

# One that never ends is as broken as one that fails.
passes() {	# TEST
	case $1 in
	*.sh) top_srcdir=$source top_builddir=$T timeout 300 bash "$source/$1" ;;
	*) timeout 300 "$T/$1" ;;
	esac >"$T/test.log" 2>&1 && ! grep -q '^not ok' "$T/test.log"
}

# Sets `why` and fails if all tests pass.
noticed() {	# TEST...
	local test

	for test in "$@"; do
		passes "$test" || { why=$test; return 0; }
	done
	why='no test'
	return 1
}

mutate() {	# FILE WHAT SED TEST...
	local file=$1 what=$2 expression=$3 why status

	shift 3
	restore "$file"
	sed -i -e "$expression" "$T/$file"
	if cmp -s "$source/$file" "$T/$file"; then
		result 1 "$file: $what: the expression fits nothing"
		return
	fi
	# shellcheck disable=SC2046 # one word a target
	if ! build $(targets "$@"); then
		result 1 "$file: $what: does not compile"
		tail -n 20 "$T/make.log" | sed 's/^/# /'
		return
	fi
	noticed "$@"
	status=$?
	result $status "$file: $what: noticed by $why"
}

chosen_only() {	# FILE WHAT SED TEST...
	[[ "$1: $2" =~ $chosen ]] || return 0
	mutate "$@"
	restore "$1"
}

(cd "$T" && "$source/configure" CFLAGS='-O1 -g' >configure.log 2>&1) ||
	{ tail "$T/configure.log"; exit 1; }
mapfile -t all < <(sed -n 's/^== [^:]*: //p' "$here"/*.txt | xargs -n1 | sort -u)
# shellcheck disable=SC2046 # one word a target
build -j2 $(targets "${all[@]}") || { tail -n 20 "$T/make.log"; exit 1; }
# A test that fails anyway would notice everything.
for test in "${all[@]}"; do
	passes "$test"
	result $? "$test passes without a mutation"
done
for list in "$here"/*.txt; do
	for_each_mutation "$list" chosen_only
done
done_testing
