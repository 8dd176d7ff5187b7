# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# TAP, for every test that is a shell script: source it, call these, end with
# done_testing.  It needs bash, sed and awk, so it works inside the lab as well.

tap_n=0 tap_failed=0

ok() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $*"
}

# Returns 1, so that a test can stop: try "mount" ... || bail_out "no mount"
# A name with "# TODO why" is known to fail: TAP counts it apart, and complains
# when it passes.
not_ok() {
	tap_n=$((tap_n + 1))
	[[ $* = *'# TODO '* ]] || tap_failed=$((tap_failed + 1))
	echo "not ok $tap_n - $*"
	return 1
}

skip() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - # SKIP $*"
}

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# is GOT WANT NAME
is() {
	if [ "$1" = "$2" ]; then
		ok "$3"
	else
		not_ok "$3"
		diag "got:  $1"
		diag "want: $2"
		return 1
	fi
}

# in_range VALUE LOW HIGH NAME: decimal numbers, both ends included
in_range() {
	if awk -v v="$1" -v lo="$2" -v hi="$3" '
		function number(s) { return s ~ /^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$/ }
		BEGIN { exit !(number(v) && number(lo) && number(hi) && v + 0 >= lo + 0 && v + 0 <= hi + 0) }'; then
		ok "$4 ($1)"
	else
		not_ok "$4"
		diag "got $1, want $2 to $3"
		return 1
	fi
}

# try NAME COMMAND...: ok if the command succeeds, its output as diagnostics if not
try() {
	local name=$1 out status=0

	shift
	out=$("$@" 2>&1) || status=$?
	if [ $status = 0 ]; then
		ok "$name"
	else
		not_ok "$name"
		diag "$*: status $status: $out"
		return 1
	fi
}

# refuse NAME COMMAND...: ok if the command fails, unless it cannot be run (126, 127) or a signal kills it
refuse() {
	local name=$1 out status=0

	shift
	out=$("$@" 2>&1) || status=$?
	if [ $status != 0 ] && [ $status -lt 126 ]; then
		ok "$name"
	else
		not_ok "$name"
		diag "$*: status $status: $out"
		return 1
	fi
}

# result STATUS NAME [FILE]: ok if the status is 0, else the file as diagnostics
result() {
	[ "$1" = 0 ] && ok "$2" && return
	not_ok "$2"
	[ $# -lt 3 ] || sed 's/^/# /' "$3"
	return 1
}

# check NAME COMMAND...: as try, but in this shell, so that a function can leave variables; needs $T
check() {
	local name=$1 status=0

	shift
	"$@" >"$T/diagnosis" 2>&1 || status=$?
	result $status "$name" "$T/diagnosis"
}

# temporary_folder NAME: leaves $T, which is kept if a test fails
temporary_folder() {
	T=$(mktemp -d "${TMPDIR:-/tmp}/$1.XXXXXX") || exit 99
	trap '[ $tap_failed = 0 ] && rm -rf "$T" || echo "# left in $T"' EXIT
}

# skip_all WHY: instead of everything else
skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

bail_out() {
	echo "Bail out! $*"
	exit 1
}

# Last line of every test: the plan and the exit status. A test without a result fails.
done_testing() {
	[ $tap_n != 0 ] || not_ok 'the test has a result'
	echo "1..$tap_n"
	[ $tap_failed = 0 ]
	exit
}
