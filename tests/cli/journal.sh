#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What `balance --background` writes to the system log: the result, and nothing else
# once the terminal is let go. What `restore` tells the journal as a unit of systemd.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"
mkfifo "$T/journal"

# background MACHINE WORD...: leaves in $T/lines what the process has logged by its end
background() {
	local reader
	timeout 60 cat "$T/journal" >"$T/lines" &
	reader=$!
	FAKE=$1 FAKE_JOURNAL=$T/journal btrfs "${@:2}" balance --preferred-metadata --background >"$T/out" 2>"$T/err"
	[ $? = 0 ] && [ ! -s "$T/err" ] && wait $reader || { cat "$T/err" "$T/lines"; return 1; }
}

logged() {	# LINE...
	diff <(printf '%s\n' "$@") "$T/lines"
}

done_() {
	background tagged && logged "<6> balance of '/mnt': Done, had to relocate 4 out of 5 chunks" &&
		grep -q 'started in the background, process [0-9]' "$T/out"
}
with_json() {
	background tagged --format json && logged "<6> balance of '/mnt': Done, had to relocate 4 out of 5 chunks" &&
		grep -q background-process "$T/out"
}
quiet() { background tagged -q && logged "<6> balance of '/mnt': Done, had to relocate 4 out of 5 chunks" && [ ! -s "$T/out" ]; }
failed() {
	background no-space && logged \
		"<6> balance of '/mnt': Ended early, relocated 3 of 4 misplaced chunks" \
		"<3> balance of '/mnt': the kernel found no space to move chunk 34603008 of '/mnt'; free some space and run it again"
}
warned() {
	FAKE=tagged FAKE_JOURNAL=$T/file btrfs balance --preferred-metadata >"$T/out" && [ ! -e "$T/file" ]
}

# Under systemd stderr is the journal, where lines tell their priority by how they begin.
as_unit() {
	: >"$T/err"
	FAKE=$1 JOURNAL_STREAM=$(stat -c %d:%i "$T/err") btrfs "${@:2}" >"$T/out" 2>>"$T/err"
}
unit_warns() {
	as_unit stock-tagged device policy restore --bdi btrfs-1
	[ $? = 2 ] && as_unit stock-tagged device policy restore --all
	[ $? = 2 ] && grep -qx "<4>WARNING: the roles of '/mnt' are not enforced: this kernel has no '.*'" "$T/err"
}
unit_fails() {
	as_unit stock-saved device policy restore --all
	[ $? = 2 ] && grep -q "^<3>ERROR: cannot restore the settings of '/mnt'" "$T/err"
}
unit_is_well() { as_unit stock device policy restore --all && [ ! -s "$T/err" ]; }
not_the_journal() {
	FAKE=stock-tagged JOURNAL_STREAM=1:1 btrfs device policy restore --all 2>"$T/err"
	[ $? = 2 ] && grep -q "^WARNING: " "$T/err"
}

check "the result" done_
check "the result where JSON was asked for" with_json
check "the result with -q, too" quiet
check "an error with its priority" failed
check "nothing of a run in the foreground" warned
check "restore as a unit: roles that are not enforced are a warning, without a file too" unit_warns
check "restore as a unit: saved settings that this kernel lacks are an error" unit_fails
check "restore as a unit: without either, a stock kernel is fine" unit_is_well
check "stderr that is not the journal has no priorities" not_the_journal
done_testing
