#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every command with the nth call to the kernel failing, for every n: either the command does its work, or it ends with an error
# that says what failed, and prints no half of a JSON document.  Settings and roles
# are then what they were.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

export FAKE=tagged FAKE_FAIL_AT

# Does JSON on stdout end where it should?
whole_document() {
	[ ! -s "$T/out" ] || [ "$(tail -n1 "$T/out")" = '}' ]
}

# Nothing of what it would change is changed if it failed, all if it did not.
whole_change() {
	[ $moves = 0 ] || return 0
	if [ $status = 0 ]; then
		cmp "$T/state" "$T/after"
	else
		cmp "$T/state" "$T/before"
	fi
}
moves=0

complain() {
	echo "$1, call $FAKE_FAIL_AT, status $status"
	cat "$T/out" "$T/err"
}

every_call() {	# COMMAND...
	local status failed=0
	FAKE_FAIL_AT=0 FAKE_STATE=$T/before btrfs device policy show >/dev/null
	FAKE_FAIL_AT=0 FAKE_CALLS=$T/calls FAKE_STATE=$T/after \
		btrfs --format json "$@" >"$T/good" 2>/dev/null
	for ((FAKE_FAIL_AT = 1; FAKE_FAIL_AT <= $(cat "$T/calls"); FAKE_FAIL_AT++)); do
		FAKE_STATE=$T/state btrfs --format json "$@" >"$T/out" 2>"$T/err" </dev/null
		status=$?
		whole_change || { complain "half a change: $*"; return 1; }
		whole_document || { complain "half a document: $*"; return 1; }
		case $status in
		0) [ -s "$T/out" ] || { complain "nothing: $*"; return 1; } ;;
		1 | 2) failed=$((failed + 1))
			grep -q '^ERROR: .\{10\}' "$T/err" || { complain "no error: $*"; return 1; } ;;
		*) complain "bad status: $*"; return 1 ;;
		esac
	done
	[ $failed -gt 3 ] || { echo "only $failed calls mattered: $*"; return 1; }
	btrfs --format json "$@" >"$T/out" && cmp "$T/good" "$T/out"
}

show() { every_call device policy show /mnt; }
list() { every_call device policy list /mnt; }
get() { every_call device policy get role; }
set_() { every_call device policy set roundrobin --rot-penalty 3 --readahead 1M; }
tag() { every_call device policy tag metadata-preferred 1 2; }
suggest() { every_call device policy suggest; }
usage() { every_call device policy usage; }
add() { local moves=1; every_call device policy add metadata-only /dev/fake5 /mnt; }
drain() { local moves=1; FAKE=ours every_call device policy drain --remove 4 /mnt; }
usage_all() { every_call device policy usage --all; }
save() { every_call device policy save; }
set_save() { FAKE=saved every_call device policy set roundrobin --readahead 1M --save; }
restore() { FAKE=saved every_call device policy restore --all; }
plan() { every_call --dry-run balance --preferred-metadata; }
run() { local moves=1; every_call balance --preferred-metadata; }

for what in show list get set_ tag suggest add drain usage usage_all save restore set_save plan run; do
	check "${what%_} with the nth call failing" $what
done
done_testing
