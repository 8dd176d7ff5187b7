# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The lists of mutations: "== FILE: TEST..." begins those of a file, with the tests
# that are run for it; "# WHAT" says what the sed expression below it breaks.

# for_each_mutation LIST FUNCTION: FUNCTION FILE WHAT EXPRESSION TEST...
for_each_mutation() {
	local line file='' what='' tests=()

	while IFS= read -r line; do
		case $line in
		'== '*)
			line=${line#== }
			file=${line%%: *}
			read -ra tests <<<"${line#*: }"
			;;
		'# '*) what=${line#\# } ;;
		'') ;;
		*) "$2" "$file" "$what" "$line" "${tests[@]}" ;;
		esac
	done <"$1"
}
