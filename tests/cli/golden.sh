#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Replays transcripts: in tests/cli/golden/*.txt each line "$ MACHINE: COMMAND" is
# run on that made-up machine and followed by what it printed ("1|" stdout, "2|"
# stderr) and its exit status ("?").  GOLDEN_UPDATE=1 writes them anew in place of
# comparing; read the difference before you commit it.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

replay() {	# FILE
	local line status
	while IFS= read -r line; do
		case $line in
		'$ '*) ;;
		[12]'|'* | '? '*) continue ;;
		*) printf '%s\n' "$line"; continue ;;
		esac
		printf '%s\n' "$line"
		line=${line#'$ '}
		FAKE=${line%%: *}
		export FAKE
		eval "${line#*: }" >"$T/stdout" 2>"$T/stderr" </dev/null
		status=$?
		sed 's/^/1|/' "$T/stdout"
		sed 's/^/2|/' "$T/stderr"
		echo "? $status"
	done <"$1"
}

for file in "$top_srcdir"/tests/cli/golden/*.txt; do
	name=${file##*/}
	replay "$file" >"$T/$name"
	if [ "${GOLDEN_UPDATE-}" ]; then
		cp "$T/$name" "$file"
		continue
	fi
	diff -u "$file" "$T/$name" >"$T/diff"
	result $? "${name%.txt}" "$T/diff"
done
finish
