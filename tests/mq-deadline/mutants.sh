#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does the stress of mq-deadline notice? Breaks one thing at a time, as mutants.txt says, and runs its rounds: they come
# to what it says, a request is lost or the kernel complains. Unbroken, with the same delays, they end. For the night.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CPUS=4 TIMEOUT=600
. "$here/machine.sh"

seconds=${MUTANT_SECONDS:-60}
only=${1:-}

# What the machine came to, in a word: "lost" is a request, "hangs" is a machine that says nothing.
outcome() {
	if grep -q '^failed' "$work/out"; then
		echo lost
	elif [ "$(complaints)" != 0 ]; then
		echo complaint
	elif ! grep -q '^end$' "$work/out"; then
		echo hangs
	elif ! grep -q '^lockdep 1' "$work/out"; then
		echo complaint
	else
		echo ends
	fi
}

# try WORDS NAME SED...: it comes to one of WORDS. If the machine does not begin, or is stopped before it says
# anything, that is no outcome.
try() {
	local wanted=$1 name=$2 got

	shift 2
	[[ $name =~ $only ]] || return 0
	test_module "$@" || { not_ok "$name: does not build"; return; }
	boot rounds "$seconds" || bail_out "$name: the machine does not start, status $qemu_status"
	grep -q '^begin$' "$work/out" || { diag "$(tail -n 20 "$work/out")"; bail_out "$name: the rounds do not begin"; }
	got=$(outcome)
	[ "$got" != hangs ] || [ "$qemu_status" != 124 ] || { diag "$(tail -n 20 "$work/out")"; bail_out "$name: stopped after $TIMEOUT s"; }
	[[ " $wanted " != *" $got "* ]] || wanted=$got
	is "$got" "$wanted" "$name: $(grep -m 1 -E '^failed|BUG:|WARNING:|INFO: |corruption' "$work/out" || grep '^rounds' "$work/out" | xargs)"
}

try ends 'as it is'
while IFS= read -r line; do
	case $line in
	'== '*)
		words=${line#== } name=${words#*: }
		words=${words%%:*} ;;
	'#'*|'') ;;
	*) try "$words" "$name" "$line" ;;
	esac
done < "$here/mutants.txt"
done_testing
