#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3
#
# The real program on the real kernel, with its nth call to it failing, for every
# n: either all is changed or nothing is, and an error says what failed.  A balance
# may have moved some chunks; it leaves none half moved, and the next one goes on.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
conf=/etc/btrfs-policy.d/$LAB_UUID.conf
sysfs=$(lab_sysfs)
export FAIL_AT FAIL_LOG=/tmp/fail.log

# Into $state, without a process: there are hundreds of calls.
look() {
	local file text

	state=
	for file in "$sysfs"/read_policy "$sysfs"/read_policies/roundrobin_*inc \
		    "$sysfs"/bdi/read_ahead_kb "$sysfs"/devinfo/[123]/role "${conf%/*}"/{.,}[!.]*; do
		[ ! -f "$file" ] || { read -r -d '' text <"$file"; state+="${file##*/}: $text"$'\n'; }
	done
}

# judge STATUS CALL: what the command left and said
judge() {
	look
	if [ "$1" = 0 ]; then
		[ "$state" = "$after" ] || diag "call $2: done, but not all of it: $state"
		$before
		[ "$state" = "$after" ]
		return
	fi
	if [ "$state" != "$want" ]; then
		diag "call $2: half a change: $state ($(cat /tmp/err))"
		$before
		return 1
	fi
	names_it "$2"
}

names_it() {	# CALL
	local said

	read -r -d '' said </tmp/err
	[[ $said =~ ^ERROR:\ .*\'.+\' ]] || { diag "call $1: '$said' does not name anything"; return 1; }
}

# every_call BEFORE COMMAND...: BEFORE is a command that makes the state to start from
every_call() {
	local before=$1 want after state call n bad=0 failed=0 status

	shift
	$before
	look; want=$state
	FAIL_AT=0 "$@" >/dev/null 2>&1 || { diag "does not work at all"; return 1; }
	look; after=$state
	[ "$after" != "$want" ] || { diag "changes nothing"; return 1; }
	$before
	for ((n = 1; ; n++)); do
		FAIL_AT=$n LD_PRELOAD=/tmp/failing.so "$@" >/tmp/out 2>/tmp/err
		status=$?
		read -r call <$FAIL_LOG
		[ "${call#* }" != none ] || break
		failed=$((failed + (status != 0)))
		judge $status "$call" || bad=1
	done
	diag "$*: $n calls, $failed of them end it"
	[ $failed -gt 10 ] || bad=1
	return $bad
}

# Roles by which all metadata stands wrong, and after a balance all by the other ones does.
swap_roles() {
	swapped=$((!swapped))
	if [ $swapped = 1 ]; then
		btrfs-policy -q tag metadata-preferred 1 2 "$LAB_MNT" && btrfs-policy -q tag data-only 3 "$LAB_MNT"
	else
		btrfs-policy -q tag data-preferred 2 3 "$LAB_MNT" && btrfs-policy -q tag data-only 1 "$LAB_MNT"
	fi
	btrfs-policy usage -c "$LAB_MNT" >/tmp/out
	[ $? = 64 ] || { diag "nothing is misplaced"; return 1; }
}

# judge_balance STATUS CALL
judge_balance() {
	[ "$(<"$sysfs/exclusive_operation")" = none ] || { diag "call $2: it goes on"; return 1; }
	[ "$1" = 0 ] || names_it "$2" || return
	[ "$1" != 0 ] || btrfs-policy usage -c "$LAB_MNT" >/tmp/out || { diag "call $2: done, but not all of it"; return 1; }
	btrfs-policy -q balance --preferred-metadata "$LAB_MNT" && btrfs-policy usage -c "$LAB_MNT" >/tmp/out ||
		{ diag "call $2: the next one does not go on"; return 1; }
}

balance_every_call() {
	local n call status bad=0 failed=0 swapped=0

	for ((n = 1; ; n++)); do
		swap_roles || return
		FAIL_AT=$n LD_PRELOAD=/tmp/failing.so btrfs-policy balance --preferred-metadata "$LAB_MNT" >/tmp/out 2>/tmp/err
		status=$?
		read -r call <$FAIL_LOG
		[ "${call#* }" != none ] || break
		failed=$((failed + (status != 0)))
		judge_balance $status "$call" || bad=1
	done
	diag "$n calls, $failed of them end it"
	[ $failed -gt 10 ] || bad=1
	return $bad
}

defaults() {
	rm -rf "${conf%/*}"
	btrfs-policy -q set pid --rot-penalty 1 --readahead 4M "$LAB_MNT"
	btrfs-policy -q tag data-preferred 1 2 3 "$LAB_MNT"
}

edited() {
	defaults
	mkdir -p "${conf%/*}"
	printf '# mine\nread-policy = roundrobin\nrot-penalty = 9\n' >"$conf"
}

try 'the injector' cc -O1 -shared -fPIC -o /tmp/failing.so "$(dirname "$LAB_LIB")/tools/failing.c" -ldl ||
	bail_out 'no injector'
try mkfs lab_mkfs raid1/raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
counted() {	# NAME COMMAND...
	if "${@:2}" >/tmp/diagnosis; then ok "$1"; else not_ok "$1"; fi
	cat /tmp/diagnosis
}

counted 'set' every_call defaults btrfs-policy set roundrobin --rot-penalty 3 "$LAB_MNT"
counted 'set --save over a file' every_call edited btrfs-policy set roundrobin --readahead 8M --save "$LAB_MNT"
counted 'tag' every_call defaults btrfs-policy tag metadata-preferred 1 2 "$LAB_MNT"
counted 'restore' every_call edited btrfs-policy restore --all
counted 'save' every_call edited btrfs-policy save "$LAB_MNT"
lab_small_files "$LAB_MNT/files" 100 1500 >/dev/null
defaults
counted 'balance' balance_every_call
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
