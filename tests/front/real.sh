#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The front before the distribution's own btrfs: every command that its help knows,
# group by group, every abbreviation of its words and every option, with and without
# the front. First the distribution's program, then a recorder in its place, which
# repeats its arguments and its stdin and ends in ways that btrfs may.
set -u
. "${top_srcdir:?}/tests/front/lib.sh"

real=$(type -P btrfs) || skip_all "no btrfs in PATH"
"$real" help --full >/dev/null 2>&1 || skip_all "'$real' is no btrfs"
front_setup
PATH=${real%/*}:$A
twice=$top_builddir/tests/front/twice

# Words that the help of these words shows behind them, then the same of those.
walk() {	# WORDS...
	local next
	"$real" "$@" --help </dev/null 2>/dev/null |
		sed -nE "s/^ +btrfs${*:+ $*} ([a-z][a-z-]*)( .*)?\$/\1/p" | sort -u >"$T/walk.$#"
	[ $# -eq 0 ] || [ -s "$T/walk.$#" ] || { (IFS=$'\t'; echo "$*"); return; }
	while read -r next <&3; do
		walk "$@" "$next"
	done 3< <(cat "$T/walk.$#")
}

# Every prefix of one word with all of the other, or, where one of our words stands beside them, with every
# prefix of the other.
abbreviations() {
	awk -F '\t' -v OFS='\t' '
		NF == 1 { for (i = 1; i <= length($1); i++) print substr($1, 1, i) }
		NF > 1 {
			all = $1 == "device" || $1 == "balance"
			for (i = 1; i <= length($1); i++)
				for (j = 1; j <= length($2); j++)
					if (all || i == length($1) || j == length($2)) {
						line = substr($1, 1, i) OFS substr($2, 1, j)
						for (k = 3; k <= NF; k++) line = line OFS $k
						print line
					}
		}' "$T/commands"
}

options() {
	local words
	while IFS=$'\t' read -ra words; do
		"$real" "${words[@]}" --help </dev/null 2>&1 |
			grep -oE '^ +(-[A-Za-z0-9]|--[a-z][a-z-]*)([|,] ?--[a-z][a-z-]*)?' |
			tr -s ' |,' '\n' | grep '^-' | sort -u |
			sed "s/^/$(IFS=$'\t'; printf '%s' "${words[*]}")\t/"
	done <"$T/commands"
}

walk | sort -u >"$T/commands"
abbreviations >"$T/abbreviations"
options >"$T/options"

has_commands() {
	echo "$(wc -l <"$T/commands") commands, $(wc -l <"$T/abbreviations") spellings, $(wc -l <"$T/options") options" >&2
	[ "$(wc -l <"$T/commands")" -gt 40 ] && [ "$(wc -l <"$T/options")" -gt 150 ] &&
	grep -qx $'subvolume\tlist' "$T/commands" && grep -qx $'device\tusage\t--si' "$T/options"
}

# No other word, so that nothing is done: help, or an error about an option that there is not.
every_spelling() {
	sed 's/$/\t--help/' "$T/abbreviations" | "$twice" "$real" "$A/btrfs" >&2 &&
	sed 's/$/\t--no-such-option/' "$T/commands" | "$twice" "$real" "$A/btrfs" >&2
}

every_option() {
	sed 's/$/\t--help/' "$T/options" | "$twice" "$real" "$A/btrfs" >&2
}

# Whatever btrfs does with its words: it gets them, and what it says and how it ends arrives.
with_recorder() {
	printf 'a stream\0\377 of bytes' >"$T/stdin"
	(export RECORD_ECHO=1 TWICE_STDIN=$T/stdin PATH=$B:$PATH
	 sed 's|$|\t-x\t\t*  *\t--\t/path|' "$T/abbreviations" | RECORD_STATUS=3 "$twice" "$B/btrfs" "$A/btrfs" >&2 &&
	 sed 's/$/\tvalue/' "$T/options" | RECORD_STATUS=0 "$twice" "$B/btrfs" "$A/btrfs" >&2 &&
	 RECORD_SIGNAL=15 "$twice" "$B/btrfs" "$A/btrfs" <"$T/commands" >&2 &&
	 RECORD_SIGNAL=13 "$twice" "$B/btrfs" "$A/btrfs" <"$T/commands" >&2)
}

# ... and a front that does anything else is noticed.
differences_show() {
	printf '#!/bin/sh\n[ "$1" = device ] && shift\nexec %s "$@"\n' "$real" >"$T/other" && chmod +x "$T/other" &&
	! sed -n '/^device/s/$/\t--help/p' "$T/commands" | "$twice" "$real" "$T/other" >"$T/differs" &&
	[ "$(grep -c '^differs: device' "$T/differs")" -gt 5 ]
}

# What it reads and what kills it: receive takes a stream, send is cut off by its reader.
streams() {
	same_stdin receive --dump && same_stdin receive -f /dev/stdin --dump &&
	for who in "$real" "$A/btrfs"; do
		printf 'not a stream' | "$who" receive --dump >"$T/out" 2>&1
		echo "$? ${PIPESTATUS[*]}" >>"$T/statuses"
		timeout --preserve-status -s TERM 0.2 "$who" receive --dump < <(sleep 1) >/dev/null 2>&1
		echo $? >>"$T/signals"
	done
	[ "$(sort -u "$T/statuses" | wc -l)" = 1 ] && [ "$(sort -u "$T/signals")" = 143 ]
}

same_stdin() {
	head -c 100000 /dev/urandom >"$T/in"
	"$real" "$@" <"$T/in" >"$T/out1" 2>"$T/err1"; local status1=$?
	"$A/btrfs" "$@" <"$T/in" >"$T/out2" 2>"$T/err2"
	[ $? = $status1 ] && cmp -s "$T/out1" "$T/out2" && cmp -s "$T/err1" "$T/err2"
}

odd_words() {
	printf '%s\n' foo $'device\tfoo' --bogus --version version $'balance\tstatus\t/proc' s \
		$'filesystem\tusage\t/proc' -- '' $'device\t' $'--format\txml\tdevice\tstats\t/' --format $'-q\tscrub' |
		"$twice" "$real" "$A/btrfs" >&2
}

# Our words mean nothing to the real one.
nothing_taken() {
	! grep -qE $'^device\tp|^balance\t-' "$T/commands" &&
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
check "all its commands and abbreviations are as before" every_spelling
check "so are all its options" every_option
check "whatever it does, words, streams and end are as before" with_recorder
check "and a difference is noticed" differences_show
check "so are its input and what ends it" streams
check "so are its errors" odd_words
check "no word of it is taken" nothing_taken
check "listings are its own and then ours" listings_extended
done_testing
