# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Common to the tests of the front: a temporary place, TAP, and two folders,
# $A with the front and a recorder as btrfs-policy, $B with a recorder as btrfs.

tests=0 failures=0

check() {	# NAME FUNCTION
	tests=$((tests + 1))
	if "$2" 2>"$T/diagnosis"; then
		echo "ok $tests - $1"
	else
		echo "not ok $tests - $1"
		sed 's/^/# /' "$T/diagnosis"
		failures=$((failures + 1))
	fi
}

finish() {
	echo "1..$tests"
	if [ $failures = 0 ]; then
		rm -rf "$T"
	else
		echo "# left in $T"
	fi
	exit 0
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

front_setup() {
	local configured
	configured=$(sed -n 's/^#define BTRFS_REAL_PATH "\(.*\)"$/\1/p' "$top_builddir/config.h")
	[ -z "$configured" ] || skip_all "configured to hand on to $configured only"
	T=$(mktemp -d "${TMPDIR:-/tmp}/front.XXXXXX") || exit 99
	A=$T/front B=$T/real RECORD=$T/record
	mkdir "$A" "$B" "$RECORD"
	cp "$top_builddir/cmds/btrfs" "$A/btrfs"
	cp "$top_builddir/tests/front/recorder" "$A/btrfs-policy"
	cp "$top_builddir/tests/front/recorder" "$B/btrfs"
	cp "$top_builddir/tests/front/recorder" "$T/outcome"
	export RECORD
	PATH=$B:$PATH
	unset BTRFS_POLICY_FRONTS RECORD_STATUS RECORD_SIGNAL RECORD_STDIN
}

outcome() {
	"$T/outcome" "$@"
}
