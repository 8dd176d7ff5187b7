#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every expression of tests/mutate/*.txt changes the file that it is for: a renamed
# function otherwise leaves a mutation that breaks nothing.  Runs no test.
set -u
here=$top_srcdir/tests/mutate

. "$top_srcdir/tests/tap.sh"
. "$here/lists.sh"

temporary_folder fits

# $misses gets what changes nothing; $2 of a list is what it would break.
fits() {	# FILE WHAT EXPRESSION TEST...
	[ -f "$top_srcdir/$1" ] || { echo "$1: no such file"; return; }
	sed -e "$3" "$top_srcdir/$1" >"$T/new" 2>/dev/null || { echo "$1: $2: sed refuses $3"; return; }
	cmp -s "$T/new" "$top_srcdir/$1" && echo "$1: $2: $3"
}

for list in "$here"/*.txt; do
	for_each_mutation "$list" fits >"$T/misses"
	[ ! -s "$T/misses" ]
	result $? "every expression of ${list##*/} fits" "$T/misses"
done
printf '%s\n' '== VERSION: none' '# a name that is gone' 's/no_such_name/0/' >"$T/stale"
for_each_mutation "$T/stale" fits >"$T/misses"
[ -s "$T/misses" ]
result $? 'an expression that fits nothing would be found'
printf '%s\n' '== VERSION: none' '# no expression' 's/0/' >"$T/broken"
for_each_mutation "$T/broken" fits >"$T/misses"
[ -s "$T/misses" ]
result $? 'one that sed refuses would be found'
done_testing
