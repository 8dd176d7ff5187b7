#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The shape of the sources does not get worse: at most 67 types in the library and 25 in the
# commands, at most 15 % helpers with one caller, short functions.
set -uo pipefail

shape=$top_srcdir/tests/unit/shape.py
why=$(mktemp -d)/why
trap 'rm -r "${why%/*}"' EXIT

. "$top_srcdir/tests/tap.sh"
command -v python3 > /dev/null || skip_all 'no python3'
# types, percent called once and at most 12 lines, median, 90th percentile, longest
python3 "$shape" --limits 67,9,15,40,60 "$top_srcdir/libbtrfs-policy" > "$why" 2>&1
result $? 'the library keeps its shape' "$why"
python3 "$shape" --limits 25,15,15,40,60 "$top_srcdir/cmds" > "$why" 2>&1
result $? 'the commands keep theirs' "$why"
! python3 "$shape" --limits 23,15,15,40,60 "$top_srcdir/cmds" > "$why" 2>&1 &&
	grep -q '^over the limits' "$why"
result $? 'types over a limit are found' "$why"
find "$top_srcdir/libbtrfs-policy" "$top_srcdir/cmds" -name '*.[ch]' -exec wc -l {} \; |
	awk '$1 > 600' > "$why"
[ ! -s "$why" ]
result $? 'no file has more than 600 lines' "$why"

done_testing
