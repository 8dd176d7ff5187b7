# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Common to the tests of the front: a temporary place and two folders,
# $A with the front and a recorder as btrfs-policy, $B with a recorder as btrfs.

. "$top_srcdir/tests/tap.sh"

front_setup() {
	local configured
	configured=$(sed -n 's/^#define BTRFS_REAL_PATH "\(.*\)"$/\1/p' "$top_builddir/config.h")
	[ -z "$configured" ] || skip_all "configured to hand on to $configured only"
	temporary_folder front
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
