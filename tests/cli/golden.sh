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
	local line
	while IFS= read -r line; do
		case $line in
		'$ '*) line=${line#'$ '}; transcript "${line%%: *}" "${line#*: }" ;;
		[12]'|'* | '? '*) ;;
		*) printf '%s\n' "$line" ;;
		esac
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
done_testing
