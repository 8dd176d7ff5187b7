#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The shape of the sources does not get worse: at most 60 types in the library and 25 in the
# commands, at most 15 % helpers with one caller, short functions.
set -uo pipefail

shape=$top_srcdir/tests/unit/shape.py
why=$(mktemp -d)/why
trap 'rm -r "${why%/*}"' EXIT

result() {
	[ "$2" -eq 0 ] && echo "ok $1 - $3" && return
	echo "not ok $1 - $3"
	sed 's/^/# /' "$why"
}

command -v python3 > /dev/null || { echo '1..0 # SKIP no python3'; exit 0; }
echo 1..4
# types, percent called once and at most 12 lines, median, 90th percentile, longest
python3 "$shape" --limits 60,9,15,40,60 "$top_srcdir/libbtrfs-policy" > "$why" 2>&1
result 1 $? 'the library keeps its shape'
python3 "$shape" --limits 25,15,15,40,60 "$top_srcdir/cmds" > "$why" 2>&1
result 2 $? 'the commands keep theirs'
! python3 "$shape" --limits 23,15,15,40,60 "$top_srcdir/cmds" > "$why" 2>&1 &&
	grep -q '^over the limits' "$why"
result 3 $? 'types over a limit are found'
find "$top_srcdir/libbtrfs-policy" "$top_srcdir/cmds" -name '*.[ch]' -exec wc -l {} \; |
	awk '$1 > 600' > "$why"
[ ! -s "$why" ]
result 4 $? 'no file has more than 600 lines'
