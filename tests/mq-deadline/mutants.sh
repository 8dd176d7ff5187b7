#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does the stress of mq-deadline notice? Breaks one thing at a time, as mutants.txt says, and runs its rounds: a
# request is lost, or the kernel complains. Unbroken, with the same delays, they end. For the night.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CPUS=4 TIMEOUT=600
. "$here/machine.sh"

seconds=${MUTANT_SECONDS:-60}
only=${1:-}

# What the machine came to, in a word.
outcome() {
	boot rounds "$seconds"
	grep -q '^failed' "$work/out" && echo lost && return
	[ "$(complaints)" = 0 ] && grep -q '^lockdep 1' "$work/out" || { echo complaint; return; }
	grep -q '^end$' "$work/out" && echo ends || echo hangs
}

# try WORD NAME SED...: it comes to WORD, or if that is "noticed" to anything but its end
try() {
	local wanted=$1 name=$2 got

	shift 2
	[[ $name =~ $only ]] || return 0
	test_module "$@" || { not_ok "$name: does not build"; return; }
	got=$(outcome)
	[ "$wanted" = noticed ] && [ "$got" != ends ] && wanted=$got
	is "$got" "$wanted" "$name: $(grep -m 1 -E '^failed|BUG:|WARNING:|INFO: |corruption' "$work/out" || grep '^rounds' "$work/out" | xargs)"
}

try ends 'as it is'
while IFS= read -r line; do
	case $line in
	'== '*) name=${line#== } ;;
	'#'*|'') ;;
	*) try noticed "$name" "$line" ;;
	esac
done < "$here/mutants.txt"
done_testing
