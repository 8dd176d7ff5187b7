#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The front: what it hands on and to whom, and that nothing of a call changes on
# the way.  A recorder stands in for btrfs and for btrfs-policy.
set -u
. "${top_srcdir:?}/tests/front/lib.sh"

front_setup

# verdict WHO WORDS...: "ours" goes to btrfs-policy, "real" to btrfs, "list" to
# btrfs with our lines behind its own; argv is the same in all cases.
verdict() {
	local want=$1 who=real got; shift
	rm -f "$RECORD"/*
	outcome btrfs "$A/btrfs" "$@" >"$T/out" 2>"$T/err"
	case $(cat "$RECORD/exe" 2>/dev/null) in
	"$A/btrfs-policy") who=ours ;;
	"$B/btrfs") grep -q '^Provided by btrfs-policy:' "$T/out" && who=list ;;
	*) who=nobody ;;
	esac
	[ $# -eq 0 ] && set -- ''
	printf '%s\0' btrfs "$@" >"$T/argv"
	[ "$1" = '' ] && [ $# -eq 1 ] && [ "$empty_word" = 0 ] && printf 'btrfs\0' >"$T/argv"
	got=same; cmp -s "$T/argv" "$RECORD/argv" || got=other
	if [ $who = "$want" ] && [ $got = same ]; then
		return 0
	fi
	echo "# want $want, got $who, argv $got: btrfs $*"
	return 1
}
empty_word=0

prefixes() {	# WORD LEAST
	local i
	for ((i = $2; i <= ${#1}; i++)); do echo "${1:0:i}"; done
}

our_words() {
	local d p
	for d in $(prefixes device 1); do
		for p in $(prefixes policy 1); do
			verdict ours "$d" "$p" show /mnt || return 1
		done
	done
	for d in $(prefixes balance 1); do
		for p in $(prefixes --preferred-metadata 3); do
			verdict ours "$d" "$p" /mnt || return 1
			verdict ours "$d" start "$p" /mnt || return 1
			verdict ours "$d" star --bg "$p" || return 1
		done
	done
	verdict ours device policy && verdict ours device policy --help
}

their_words() {
	verdict real balance -- /mnt && verdict real balance - /mnt &&
	verdict real balance --px && verdict real balance --preferred-metadatas &&
	verdict real balance start /mnt && verdict real balance start -d --full-balance /mnt &&
	verdict real balance start -- --preferred-metadata && verdict real balance start --q /mnt &&
	verdict real balance sta --preferred-metadata && verdict real balance status /mnt &&
	verdict real balance resume --preferred-metadata && verdict real balance /mnt &&
	verdict real device policyx && verdict real device add /dev/x /mnt &&
	verdict real device '' && verdict real '' policy && verdict real devicex policy &&
	verdict real policy show && verdict real -- -x && verdict real filesystem usage / &&
	verdict real subvolume show / && verdict real help device && verdict real version &&
	verdict real device -- policy
}

global_options() {
	local g
	verdict ours -q device policy show && verdict ours -vv --quiet dev pol &&
	verdict ours --format json device policy show &&
	verdict ours --format=json device policy show && verdict ours --form text d p &&
	verdict ours --log debug d p && verdict ours --param a=b d p && verdict ours --dry-run d p &&
	verdict ours --dry balance --preferred-metadata && verdict ours -- device policy &&
	verdict real --version device policy && verdict real --bogus device policy &&
	verdict real -x device policy && verdict real --format && verdict real --ver device policy &&
	verdict real --version && verdict real device --format json policy
}

listings() {
	verdict list && verdict list -q && verdict list help && verdict list help --full &&
	verdict list --help && verdict list --help device && verdict list device &&
	verdict list dev && verdict list device --help && verdict list device --help --full &&
	verdict list balance && verdict list b --help && verdict real help --box &&
	verdict real version --help && verdict real filesystem
}

odd_arguments() {
	verdict real subvolume create "a b" '' $'new\nline' $'\xff\xfe' '*' "\\" &&
	verdict ours device policy show "a b" '' $'new\nline' $'\xff\xfe' '*' "\\"
}

# The name that a program is called by reaches it, and decides whether it is btrfs at all.
called_as() {
	local name
	for name in btrfs /usr/bin/btrfs ./btrfs; do
		outcome "$name" "$A/btrfs" device policy >/dev/null 2>&1
		[ "$(cat "$RECORD/exe")" = "$A/btrfs-policy" ] || return 1
		[ "$(head -zn1 "$RECORD/argv" | tr -d '\0')" = "$name" ] || return 1
	done
	for name in btrfsck mkfs.btrfs btrfs-image other ''; do
		outcome "$name" "$A/btrfs" device policy >/dev/null 2>&1
		[ "$(cat "$RECORD/exe")" = "$B/btrfs" ] || return 1
		[ "$(head -zn1 "$RECORD/argv" | tr -d '\0')" = "$name" ] || return 1
	done
}

# Same process: job control, process ids and terminals stay what they were.
same_process() {
	local words
	for words in "filesystem df /" "device policy show"; do
		# shellcheck disable=SC2086
		outcome btrfs "$A/btrfs" $words 2>"$T/err"
		[ "$(sed -n 's/.* pid //p' "$T/err")" = "$(cat "$RECORD/pid")" ] || return 1
	done
}

statuses() {
	local status words
	for status in 0 1 2 64 126 127 129 255; do
		for words in "filesystem df /" "device policy show" "device" "help"; do
			# shellcheck disable=SC2086
			RECORD_STATUS=$status outcome btrfs "$A/btrfs" $words 2>"$T/err" >/dev/null
			grep -q "^exit $status pid" "$T/err" ||
				{ echo "# $words: $(cat "$T/err"), want $status"; return 1; }
		done
	done
}

signals() {
	local number words
	for number in 2 6 9 11 13 15; do
		for words in "filesystem df /" "device policy show" "device"; do
			# shellcheck disable=SC2086
			RECORD_SIGNAL=$number outcome btrfs "$A/btrfs" $words 2>"$T/err" >/dev/null
			grep -q "^signal $number pid" "$T/err" ||
				{ echo "# $words: $(cat "$T/err"), want $number"; return 1; }
		done
	done
}

stdin_kept() {
	head -c 1000000 /dev/urandom >"$T/in"
	RECORD_STDIN=1 "$A/btrfs" receive /mnt <"$T/in" && cmp "$T/in" "$RECORD/stdin" &&
	RECORD_STDIN=1 "$A/btrfs" device policy <"$T/in" && cmp "$T/in" "$RECORD/stdin" &&
	RECORD_STDIN=1 "$A/btrfs" device <"$T/in" >/dev/null && cmp "$T/in" "$RECORD/stdin"
}

environment_kept() {
	env -i PATH="$PATH" RECORD="$RECORD" X="a b" Y= Z=$'\n' "$A/btrfs" filesystem df
	tr '\0' '\001' <"$RECORD/env" | sed 's/BTRFS_POLICY_FRONTS=[^\x01]*\x01//' >"$T/env"
	env -i PATH="$PATH" RECORD="$RECORD" X="a b" Y= Z=$'\n' "$B/btrfs" filesystem df
	tr '\0' '\001' <"$RECORD/env" | cmp - "$T/env"
}

streams_of_listing() {
	RECORD_STDOUT=$'their out\n' RECORD_STDERR=$'their err\n' \
		"$A/btrfs" device >"$T/out" 2>"$T/err"
	[ "$(head -n1 "$T/out")" = "their out" ] && [ "$(cat "$T/err")" = "their err" ] &&
	[ "$(grep -c '^    btrfs ' "$T/out")" = 1 ] && grep -q 'btrfs device policy' "$T/out" &&
	"$A/btrfs" balance >"$T/out" && [ "$(grep -c '^    btrfs ' "$T/out")" = 1 ] &&
	grep -q 'btrfs balance --preferred-metadata' "$T/out" &&
	"$A/btrfs" help >"$T/out" && [ "$(grep -c '^    btrfs ' "$T/out")" = 2 ] &&
	! grep -qE '.{81}' "$T/out"
}

listing_without_sigchld() {
	IGNORE_SIGCHLD=1 RECORD_STATUS=3 outcome btrfs "$A/btrfs" device 2>"$T/err" >/dev/null
	grep -q '^exit 3 ' "$T/err"
}

# A reader that goes away early is nothing to die of; the real one's status counts.
listing_into_closed_pipe() {
	RECORD_STATUS=5 outcome btrfs "$A/btrfs" device 2>"$T/err" | true
	grep -q '^exit 5 ' "$T/err"
}

version_unchanged() {
	RECORD_STDOUT=$'btrfs-progs v9\n' "$A/btrfs" --version >"$T/out" &&
	[ "$(cat "$T/out")" = "btrfs-progs v9" ]
}

none_found() {	# PATH
	timeout 10 env PATH="$1" "$A/btrfs" filesystem df / >"$T/out" 2>"$T/err"
	[ $? = 127 ] && [ ! -s "$T/out" ] && grep -q btrfs-progs "$T/err" &&
	timeout 10 env PATH="$1" "$A/btrfs" device >"$T/out" 2>"$T/err"
	[ $? = 127 ] && [ ! -s "$T/out" ]
}

nobody_to_hand_on_to() {
	mkdir -p "$T/links" "$T/dir/btrfs" "$T/plain"
	ln -sf "$A/btrfs" "$T/links/btrfs"
	: >"$T/plain/btrfs"
	none_found "$T/nowhere" && none_found "$A" && none_found "$T/links:$A" &&
	none_found "$T/dir:$T/plain" && (cd "$B" && none_found ":.:../real") &&
	PATH=$T/links:$T/dir:$T/plain:$B "$A/btrfs" filesystem df &&
	[ "$(cat "$RECORD/exe")" = "$B/btrfs" ]
}

# A second front further on must not hand back to the first.
two_fronts() {
	mkdir -p "$T/second"
	cp "$A/btrfs" "$T/second/btrfs"
	none_found "$A:$T/second" && none_found "$T/second:$A" &&
	PATH=$A:$T/second:$B "$A/btrfs" filesystem df &&
	[ "$(cat "$RECORD/exe")" = "$B/btrfs" ] &&
	PATH=$T/second:$A:$B "$A/btrfs" device >"$T/out" && [ "$(cat "$RECORD/exe")" = "$B/btrfs" ]
}

# What btrfs starts may call btrfs again.
called_again() {
	mkdir -p "$T/wrap"
	printf '#!/bin/sh\nexec %s "$@"\n' "$B/btrfs" >"$T/wrap/btrfs"
	chmod +x "$T/wrap/btrfs"
	PATH=$T/wrap:$A "$A/btrfs" filesystem df && [ "$(cat "$RECORD/exe")" = "$B/btrfs" ] &&
	seen=$(tr '\0' '\n' <"$RECORD/env" | sed -n 's/^BTRFS_POLICY_FRONTS=//p') &&
	rm "$RECORD/exe" && BTRFS_POLICY_FRONTS=$seen "$A/btrfs" device policy &&
	BTRFS_POLICY_FRONTS=$seen "$A/btrfs" scrub && [ "$(cat "$RECORD/exe")" = "$B/btrfs" ]
}

program_missing() {
	mkdir -p "$T/alone"
	cp "$A/btrfs" "$T/alone/btrfs"
	[ -e "$(sed -n 's/^bindir = //p' "$top_builddir/Makefile")/btrfs-policy" ] && return 0
	"$T/alone/btrfs" device policy show >"$T/out" 2>"$T/err"
	[ $? = 127 ] && [ ! -s "$T/out" ] && grep -q 'package btrfs-policy' "$T/err" &&
	"$T/alone/btrfs" filesystem df && [ "$(cat "$RECORD/exe")" = "$B/btrfs" ]
}

small_and_alone() {
	[ "$(wc -l <"$top_srcdir/cmds/btrfs.c")" -lt 200 ] || return 1
	ldd "$A/btrfs" >"$T/out" 2>/dev/null || return 0
	grep -q libasan "$T/out" || ! grep -qvE 'linux-vdso|libc\.|ld-linux|ld-musl' "$T/out"
}

check "all abbreviations of our words go to btrfs-policy" our_words
check "everything else goes to btrfs" their_words
check "global options are skipped as btrfs does" global_options
check "listings run btrfs and add our lines" listings
check "odd arguments arrive as they are" odd_arguments
check "argv[0] arrives as it is" called_as
check "exec, not fork" same_process
check "exit statuses are kept" statuses
check "death by a signal is kept" signals
check "stdin is kept" stdin_kept
check "the environment is kept" environment_kept
check "listings keep both streams and stay within 80 columns" streams_of_listing
check "listings work with SIGCHLD ignored" listing_without_sigchld
check "listings survive a closed pipe" listing_into_closed_pipe
check "--version is unchanged" version_unchanged
check "127 and the package's name if there is no btrfs" nobody_to_hand_on_to
check "two fronts do not hand to each other" two_fronts
check "a front may run below a front" called_again
check "127 and the package's name if there is no btrfs-policy" program_missing
check "the front is small and links nothing but libc" small_and_alone
done_testing
