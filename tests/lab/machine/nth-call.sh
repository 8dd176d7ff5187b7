# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A command with its nth call to the kernel failing, for every n, on a mounted file
# system: in the lab and on the kernel that is running. Who sources it has set
# $conf (the file of saved settings) and $sysfs (the folder of the file
# system), and made $injector from tools/failing.c.

nth=$(mktemp -d)
export FAIL_AT FAIL_LOG=$nth/log

say() {
	printf '# %s\n' "$*"
}

# Into $state, without a process: there are hundreds of calls.
look() {
	local file text

	state=
	for file in "$sysfs"/read_policy "$sysfs"/read_policies/roundrobin_*inc \
		    "$sysfs"/bdi/read_ahead_kb "$sysfs"/devinfo/[123]/role "${conf%/*}"/{.,}[!.]*; do
		[ ! -f "$file" ] || { read -r -d '' text <"$file"; state+="${file##*/}: $text"$'\n'; }
	done
}

names_it() {	# CALL
	local said

	read -r -d '' said <"$nth/err"
	[[ $said =~ ^ERROR:\ .*\'.+\' ]] || { say "call $1: '$said' does not name anything"; return 1; }
}

# try_call N COMMAND...: sets $status, and $call to the one that failed; 1 if there is no such call
try_call() {
	FAIL_AT=$1 LD_PRELOAD=$injector "${@:2}" >"$nth/out" 2>"$nth/err"
	status=$?
	read -r call <"$FAIL_LOG"
	[ "${call#* }" != none ]
}

enough() {	# COMMAND CALLS FAILED: did it have many calls to fail?
	say "$1: $2 calls, $3 of them end it"
	[ "$3" -gt 10 ]
}

# judge STATUS CALL: what the command left and said
judge() {
	look
	if [ "$1" = 0 ]; then
		[ "$state" = "$after" ] || say "call $2: done, but not all of it: $state"
		$before
		[ "$state" = "$after" ]
		return
	fi
	if [ "$state" != "$want" ]; then
		say "call $2: half a change: $state ($(cat "$nth/err"))"
		$before
		return 1
	fi
	names_it "$2"
}

# every_call BEFORE COMMAND...: BEFORE is a command that makes the state to start from
every_call() {
	local before=$1 want after state call n bad=0 failed=0 status

	shift
	$before
	look; want=$state
	"$@" >/dev/null 2>&1 || { say "does not work at all"; return 1; }
	look; after=$state
	[ "$after" != "$want" ] || { say "changes nothing"; return 1; }
	$before
	for ((n = 1; ; n++)); do
		try_call $n "$@" || break
		failed=$((failed + (status != 0)))
		judge $status "$call" || bad=1
	done
	enough "$*" $n $failed && [ $bad = 0 ]
}

# A balance may have moved some chunks; it leaves none half moved, and the next one
# goes on.  balance_every_call BEFORE AFTER COMMAND...: AFTER says whether all is done.
balance_every_call() {
	local before=$1 after=$2 n call status bad=0 failed=0

	shift 2
	for ((n = 1; ; n++)); do
		$before || return
		try_call $n "$@" || break
		failed=$((failed + (status != 0)))
		judge_balance $status "$call" "$@" || bad=1
	done
	enough "$*" $n $failed && [ $bad = 0 ]
}

# judge_balance STATUS CALL COMMAND...
judge_balance() {
	[ "$(<"$sysfs/exclusive_operation")" = none ] || { say "call $2: it goes on"; return 1; }
	if [ "$1" = 0 ]; then
		$after || { say "call $2: done, but not all of it"; return 1; }
		return
	fi
	names_it "$2" || return
	"${@:3}" >"$nth/out" 2>&1 && $after || { say "call $2: the next one does not go on"; return 1; }
}
