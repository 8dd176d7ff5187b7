#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The units of systemd: how much their sandbox leaves open, as systemd rates it, and that no failure is hidden.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

units=$top_builddir/share/systemd
command -v systemd-analyze >/dev/null || skip_all "no systemd-analyze"
[ "$(systemd-analyze --version | sed -n 's/^systemd \([0-9]*\).*/\1/p')" -ge 252 ] ||
	skip_all "systemd-analyze security has --offline from 252 on"

# rated FILE NAME: 10.0 is no sandbox at all, and --threshold counts tenths.
rated() {
	cp "$units/$1" "$T/$2" && systemd-analyze security --offline=yes --no-pager --threshold=25 "$T/$2"
}

boot() { rated btrfs-policy-restore.service btrfs-policy-restore.service; }
mount() { rated btrfs-policy-restore@.service btrfs-policy-restore@btrfs-1.service; }
hidden() { ! grep -n SuccessExitStatus "$units"/*.service; }

check "exposure of the unit at boot" boot
check "exposure of the unit at each mount" mount
check "a setting that is not in force is a failed unit" hidden
done_testing
