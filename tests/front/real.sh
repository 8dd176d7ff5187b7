#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The front before the distribution's own btrfs: for every command that it lists,
# and every abbreviation of its words, stdout, stderr and status are the same
# with and without the front, except for our block in the listings.
set -u
. "${top_srcdir:?}/tests/front/lib.sh"

real=$(type -P btrfs) || skip_all "no btrfs in PATH"
"$real" help --full >/dev/null 2>&1 || skip_all "'$real' is no btrfs"
front_setup
PATH=${real%/*}:$A
"$real" help | sed -n 's/^    btrfs \([a-z][a-z -]*[a-z]\).*/\1/p' | sort -u >"$T/commands"

same() {	# WORDS...
	"$real" "$@" >"$T/out1" 2>"$T/err1" </dev/null; local status1=$?
	"$A/btrfs" "$@" >"$T/out2" 2>"$T/err2" </dev/null; local status2=$?
	# The block and the empty line above it are ours.
	grep -q '^Provided by btrfs-policy:$' "$T/out2" && echo >>"$T/out1" &&
		sed -i '/^Provided by btrfs-policy:$/,$d' "$T/out2"
	[ $status1 = $status2 ] && cmp -s "$T/out1" "$T/out2" && cmp -s "$T/err1" "$T/err2" && return
	echo "# differs: btrfs $* ($status1, $status2)" >&2
	return 1
}

has_commands() {
	[ "$(wc -l <"$T/commands")" -gt 40 ]
}

every_command() {
	local first second i bad=0
	while read -r first second; do
		for ((i = 1; i <= ${#second}; i++)); do
			same "$first" "${second:0:i}" --help || bad=1
		done
		for ((i = 1; i <= ${#first}; i++)); do
			same "${first:0:i}" $second --help || bad=1
		done
		same "$first" $second --no-such-option || bad=1
	done <"$T/commands"
	return $bad
}

# Options as the help of each command lists them, short and long.
every_option() {
	local words option bad=0
	while read -r words; do
		# shellcheck disable=SC2086
		"$real" $words --help </dev/null 2>&1 |
			grep -oE '^ +(-[A-Za-z0-9]|--[a-z][a-z-]*)([|,] ?--[a-z][a-z-]*)?' |
			tr -s ' |,' '\n' | grep '^-' | sort -u >"$T/options"
		while read -r option; do
			# shellcheck disable=SC2086
			same $words "$option" --help || bad=1
			echo >>"$T/tried"
		done <"$T/options"
	done <"$T/commands"
	[ "$(wc -l <"$T/tried")" -gt 150 ] || { echo "# only $(wc -l <"$T/tried") options" >&2; bad=1; }
	return $bad
}

# What it reads and what kills it: receive takes a stream, send is cut off by its reader.
streams() {
	same_stdin receive --dump && same_stdin receive -f /dev/stdin --dump &&
	for who in "$real" "$A/btrfs"; do
		printf 'not a stream' | "$who" receive --dump >"$T/out" 2>&1
		echo "$? ${PIPESTATUS[*]}" >>"$T/statuses"
		timeout -s TERM 0.2 "$who" receive --dump < <(sleep 1) >/dev/null 2>&1
		echo $? >>"$T/signals"
	done
	[ "$(sort -u "$T/statuses" | wc -l)" = 1 ] && [ "$(sort -u "$T/signals" | wc -l)" = 1 ]
}

same_stdin() {
	head -c 100000 /dev/urandom >"$T/in"
	"$real" "$@" <"$T/in" >"$T/out1" 2>"$T/err1"; local status1=$?
	"$A/btrfs" "$@" <"$T/in" >"$T/out2" 2>"$T/err2"
	[ $? = $status1 ] && cmp -s "$T/out1" "$T/out2" && cmp -s "$T/err1" "$T/err2"
}

odd_words() {
	same foo && same device foo && same --bogus && same --version && same version &&
	same balance status /proc && same s && same filesystem usage /proc && same -- && same '' &&
	same device '' && same --format xml device stats / && same --format && same -q scrub
}

# Our words mean nothing to the real one.
nothing_taken() {
	! grep -qE '^device p|^balance --p' "$T/commands" &&
	! "$real" device p --help >/dev/null 2>&1 &&
	! "$real" device policy show /proc >/dev/null 2>&1
}

listings_extended() {
	local words
	for words in "" "help" "--help" "device" "device --help" "balance" "balance --help"; do
		# shellcheck disable=SC2086
		"$real" $words >"$T/out1" 2>/dev/null; local status=$?
		# shellcheck disable=SC2086
		"$A/btrfs" $words >"$T/out2" 2>/dev/null
		[ $? = $status ] || return 1
		cmp -s -n "$(stat -c %s "$T/out1")" "$T/out1" "$T/out2" || return 1
		grep -q '^Provided by btrfs-policy:$' "$T/out2" || return 1
	done
}

check "btrfs lists its commands" has_commands
check "all its commands and abbreviations are as before" every_command
check "so are all its options" every_option
check "so are its input and what ends it" streams
check "so are its errors" odd_words
check "no word of it is taken" nothing_taken
check "listings are its own and then ours" listings_extended
finish
