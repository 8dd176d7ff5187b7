#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A walk through all commands by the program's own listing: help, options,
# abbreviations, errors, and the manual.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

command -v python3 >/dev/null || skip_all "no python3 to read the listing with"
btrfs-policy --dump-commands >"$T/dump.json"

# listing EXPRESSION: lines of a Python expression over the listing, "d".
listing() {
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))["commands"]
for line in eval(sys.argv[2]): print(line)' "$T/dump.json" "$1"
}

listing '[c["command"] for c in d["commands"]]' >"$T/commands"

listing '[c["command"] + ": " + (o["long"] and "--" + o["long"] or "-" + o["short"])
	for c in d["commands"] for o in c["options"]]' >"$T/options"

options_of() {	# COMMAND
	sed -n "s/^$1: //p" "$T/options"
}

each_command() {	# FUNCTION: called with the words of each command
	local words bad=0
	while read -r words; do
		"$1" "$words" || { echo "$1: $words"; bad=1; }
	done <"$T/commands"
	return $bad
}

has_all_commands() {
	[ "$(wc -l <"$T/commands")" = 13 ]
}

help_text() {
	# shellcheck disable=SC2086
	btrfs $1 --help >"$T/out" 2>"$T/err" || return 1
	[ ! -s "$T/err" ] && grep -q "^usage: btrfs $1" "$T/out" &&
	! grep -qE '.{81}|[ 	]$' "$T/out"
}

help_has_options() {
	local option
	# shellcheck disable=SC2086
	btrfs $1 --help >"$T/out"
	for option in $(options_of "$1"); do
		grep -qE -- "^    (-.\|)?$option([| ]|$)" "$T/out" || { echo "$option"; return 1; }
	done
	[ "$(options_of "$1" | wc -l)" = \
	  "$(sed '/Global options:/,$d' "$T/out" | grep -c '^    -')" ]
}

options_work() {
	local option
	for option in $(options_of "$1"); do
		# shellcheck disable=SC2086
		btrfs $1 $option --help >"$T/out" 2>&1
		[ $? = 0 ] || grep -q "not enough arguments\|invalid value '--help'" "$T/out" ||
			[ "$option" = --assume ] || return 1
	done
}

errors_on_stderr() {
	# shellcheck disable=SC2086
	btrfs $1 --no-such-option >"$T/out" 2>"$T/err"
	[ $? = 1 ] && [ ! -s "$T/out" ] && grep -q "^btrfs $1: .*'--no-such-option'" "$T/err" &&
	! grep -qE '.{81}' "$T/err"
}

globals_anywhere() {
	# shellcheck disable=SC2086
	btrfs -q -v --format json --dry-run --log info $1 --help >"$T/out1" &&
	btrfs $1 -q -v --format json --dry-run --log info --help >"$T/out2" &&
	cmp "$T/out1" "$T/out2"
}

# A word may be shortened until it could be another one of its group.
abbreviation() {
	local words=$1 first=${1% *} last=${1##* } i others
	for ((i = 1; i < ${#last}; i++)); do
		others=$(grep -c "^$first ${last:0:i}" "$T/commands")
		case $last in --*) [ $i -lt 3 ] && others=0 ;; esac
		# shellcheck disable=SC2086
		btrfs $first "${last:0:i}" --help >"$T/out" 2>"$T/err"
		case $?$others in
		01) grep -q "^usage: btrfs $words " "$T/out" || return 1 ;;
		1[02-9]) [ ! -s "$T/out" ] || return 1 ;;
		*) echo "${last:0:i}"; return 1 ;;
		esac
	done
}

groups() {
	local words
	for words in "device" "device policy" "balance"; do
		# shellcheck disable=SC2086
		btrfs $words >"$T/out1"; [ $? = 1 ] || return 1
		# shellcheck disable=SC2086
		btrfs $words --help >"$T/out2" || return 1
		cmp "$T/out1" "$T/out2" && ! grep -qE '.{81}|[ 	]$' "$T/out1" || return 1
	done
	btrfs device policy --help --full | grep -q -- --rot-penalty &&
	btrfs-policy --help | grep -q "btrfs-policy device policy show" &&
	! btrfs-policy --help | grep -qE '.{81}|[ 	]$'
}

settings_are_options() {
	local name count=0
	for name in $(listing '[s["name"] for s in d["settings"] if s["scope"] == "filesystem"]'); do
		count=$((count + 1))
		[ "$name" = read-policy ] || options_of "device policy set" | grep -qx -- "--$name" ||
			{ echo "$name"; return 1; }
	done
	[ $count -ge 5 ]
}

# What the parser takes is what help, completion and manual say, both ways.
same_words() {
	python3 "$top_srcdir/tests/cli/check-words" "$top_builddir/tests/cli/fake-btrfs-policy" \
		"$top_srcdir/Documentation/man"
}

# ... and a word too many in the manual is noticed.
words_are_compared() {
	local script
	for script in 's/^    -c, --check$/    -c/' 's/^-k, --kbytes$/&\n    x\n\n-x/' \
		      's/\*\*device policy get\*\* <setting>/& x/' 's/^\*\*tag\*\*/**tug**/'; do
		rm -rf "$T/pages"; cp -r "$top_srcdir/Documentation/man" "$T/pages"
		sed -i "$script" "$T/pages/btrfs-device-policy.rst"
		! python3 "$top_srcdir/tests/cli/check-words" \
			"$top_builddir/tests/cli/fake-btrfs-policy" "$T/pages" || return 1
	done
}

# Each column of a command's output is in the manual, each one there is printed.
columns_named() {	# [COMMANDS [DOCUMENTATION]]
	python3 "$top_srcdir/tests/cli/check-columns" "${1:-$top_srcdir/cmds}" \
		"${2:-$top_srcdir/Documentation/man}"
}

# ... and one that is missing on either side is noticed.
columns_are_compared() {
	local script

	for script in '/(\*mixed-chunks\*);/d' 's/(\*mixed-chunks\*);/&\n    (*x*);/' \
		      's/\*Unallocated\* (/(/' '/^\*\*usage\*\*, \*totals\*$/,/^$/d'; do
		rm -rf "$T/pages"; cp -r "$top_srcdir/Documentation/man" "$T/pages"
		sed -i "$script" "$T/pages/btrfs-device-policy.rst"
		! columns_named "$top_srcdir/cmds" "$T/pages" || { echo "$script"; return 1; }
	done
	mkdir -p "$T/cmds"; cp "$top_srcdir"/cmds/*.c "$T/cmds"
	sed -i 's/^\t{ "mixed-chunks", NULL, 0 },$/&\n\t{ "new-chunks", NULL, 0 },/' \
		"$T/cmds/device-policy-usage.c"
	! columns_named "$T/cmds"
}

write_error() {
	btrfs device policy show >/dev/full 2>"$T/err"
	[ $? = 1 ] && grep -q '^ERROR: cannot write to standard output' "$T/err"
}

check "the listing has all commands" has_all_commands
for what in help_text help_has_options options_work errors_on_stderr globals_anywhere \
	    abbreviation; do
	walk() { each_command $what; }
	check "all commands: ${what//_/ }" walk
done
check "parser, help, completion and manual have the same words" same_words
check "and a difference is noticed" words_are_compared
check "the manual names each column" columns_named
check "and a column too few or too many is noticed" columns_are_compared
check "groups list their commands" groups
check "all settings of a file system can be set" settings_are_options
check "a full disk is an error" write_error
done_testing
