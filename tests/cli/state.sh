#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What only looks changes nothing, --dry-run changes nothing, and what says that
# it changed something has done so.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

export FAKE=ours
FAKE_STATE=$T/before btrfs device policy get readahead >/dev/null

unchanged() {	# COMMAND...
	FAKE_STATE=$T/state btrfs "$@" >"$T/out" 2>&1 &&
	cmp "$T/before" "$T/state"
}

changed() {	# LINE COMMAND...: the only line that is new afterwards
	local line=$1
	shift
	FAKE_STATE=$T/state btrfs "$@" >"$T/out" 2>&1 &&
	[ "$(diff "$T/before" "$T/state" | sed -n 's/^> //p')" = "$line" ]
}

looking() {
	unchanged device policy list && unchanged device policy show -T &&
	unchanged device policy usage && unchanged device policy suggest && unchanged device policy get role
}

dry_run() {
	unchanged --dry-run device policy set roundrobin --rot-penalty 7 --readahead 1M &&
	unchanged device policy set roundrobin --save --dry-run &&
	unchanged --dry-run device policy save &&
	unchanged --dry-run device policy tag metadata-only nonrotational &&
	unchanged --dry-run device policy add metadata-only /dev/fake5 /mnt &&
	FAKE=tagged FAKE_STATE=$T/before btrfs device policy show >/dev/null &&
	FAKE=tagged unchanged --dry-run balance --preferred-metadata &&
	FAKE=tagged unchanged --dry-run balance --preferred-metadata --background
	local status=$?
	FAKE_STATE=$T/before btrfs device policy get readahead >/dev/null
	return $status
}

nothing_to_do() {
	unchanged device policy set pid && unchanged device policy tag data-preferred 1 2 3 4 &&
	unchanged balance --preferred-metadata
}

changes() {
	local fs=00010203-0405-0607-0809-0a0b0c0d0e0f
	changed "$fs/read_policies/roundrobin_rot_nonlocal_inc=7" \
		device policy set pid --rot-penalty 7 &&
	changed "$fs/read_policies/roundrobin_nonlocal_inc_mixed_only=0" \
		device policy set pid --penalty-mixed-only no &&
	changed "$fs/allocation/lagging_superblocks=1" \
		device policy set pid --lagging-superblocks yes &&
	changed "$fs/bdi/read_ahead_kb=1024" device policy set pid --readahead 1M &&
	changed "device 2 type 2" device policy tag metadata-only 2 &&
	changed "device 2 type 3" device policy tag data-only /dev/fake2 /mnt &&
	changed "device 2 type 1" device policy tag metadata-preferred /dev/disk/by-id/two /mnt
}

moves() {
	FAKE=tagged FAKE_STATE=$T/state btrfs balance --preferred-metadata >"$T/out" &&
	grep -qx "balances 4" "$T/state"
}

check "looking changes nothing" looking
check "--dry-run changes nothing" dry_run
check "what is right already is left alone" nothing_to_do
check "a change is what was asked for, on disk and in sysfs" changes
check "a balance moves one chunk after the other" moves
done_testing
