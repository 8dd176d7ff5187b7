#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Subjects of commits: "area: change", at most 72 columns.  Covers those after the commit below.
set -uo pipefail

first=df86582

# Subjects on stdin that are against the rule.
bad_subjects() {
	grep -vE '^[a-zA-Z0-9][a-zA-Z0-9/._, -]*: [^ ]|^Revert "'
}

too_long() {
	awk 'length($0) > 72'
}

git() {
	command git -C "$top_srcdir" "$@" 2> /dev/null
}

if ! git merge-base --is-ancestor "$first" HEAD; then
	echo '1..0 # SKIP no history of commits'
	exit 0
fi
echo 1..3
for rule in bad_subjects too_long; do
	n=$((${n:-0} + 1))
	found=$(git log --no-merges --format=%s "$first..HEAD" | "$rule")
	[ -z "$found" ] || echo -n 'not '
	echo "ok $n - no subject after $first is against the rule '$rule'"
	[ -z "$found" ] || sed 's/^/# /' <<< "$found"
done
long="lab: $(printf 'x%.0s' {1..68})"
[ "$(printf '%s\n' 'no area here' "$long" 'lab: fine' | bad_subjects)" = 'no area here' ] &&
	[ "$(printf '%s\n' 'no area here' "$long" 'lab: fine' | too_long)" = "$long" ] || echo -n 'not '
echo 'ok 3 - both would be found'
