#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cases of device roles in Documentation/internals/testing.md: all 26 are there, each
# names a test that make runs and a line in it. Runs nothing of the lab itself.
set -u
lab=$top_srcdir/tests/lab

# "NUMBER|FILE|LINE" of each row
rows() {
	sed -n 's/^| \([0-9]*\) | .* | `\(.*\.sh\)` | `\(.*\)` |$/\1|\2|\3/p' "$top_srcdir/Documentation/internals/testing.md"
}

# Why the row does not hold, if it does not.
look_up() {
	local file
	file=$(find "$lab" -name "$1")
	[ -n "$file" ] || { echo "no file $1"; return; }
	grep -qF "${file#"$top_srcdir"/}" "$lab/Makemodule.am" || echo "make does not run $1"
	grep -vE '^[[:space:]]*#' "$file" | grep -qF "$2" || echo "$1 has no line '$2'"
}

tests=0
while IFS='|' read -r number file line; do
	tests=$((tests + 1))
	why=$(look_up "$file" "$line")
	[ "$number" = $tests ] || why="case $tests is missing"
	[ -z "$why" ] && echo "ok $tests - case $number: $file" || echo "not ok $tests - case $number: $why"
done < <(rows)
[ $tests = 26 ] && echo 'ok 27 - all cases' || echo "not ok 27 - $tests cases of 26"
echo 1..27
