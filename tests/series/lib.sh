# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For tests that build a kernel and run cases of the lab on it: each result of a case
# is one of theirs. Sourced; the caller has set $top and $dir, a folder for what the
# cases print.

. "$top/tests/tap.sh"

# step WHAT COMMAND...
step() {
	local what=$1 status
	shift
	"$@" 2>&1 | sed 's/^/# /'
	status=${PIPESTATUS[0]}
	result "$status" "$what"
}

# Runs one test, from a process of xargs; leaves output and status in $dir.
run_test() {
	local out=$dir/$(basename "$1")
	bash "$top/$1" > "$out.out" 2> "$out.err"
	echo $? > "$out.status"
}

# The results of one test as results of this one; a test that has none is a failure.
retell() {
	local name out line
	name=$(basename "$1" .sh) out=$dir/$(basename "$1")
	while IFS= read -r line; do
		case $line in
		'ok '*) ok "$name: ${line#*[0-9] - }" ;;
		'not ok '*) not_ok "$name: ${line#*[0-9] - }" ;;
		'1..0 # SKIP'*) ok "$name # SKIP ${line#*SKIP }" ;;
		'1..'*) ;;
		*) printf '# %s\n' "${line#\# }" ;;
		esac
	done < "$out.out"
	if ! grep -q '^1\.\.' "$out.out" ||
	   { [ "$(cat "$out.status")" != 0 ] && ! grep -q '^not ok' "$out.out"; }; then
		sed 's/^/# /' "$out.err"
		not_ok "$name: came to its end (status $(cat "$out.status"))"
	fi
}

# run_cases CASE...: as many at a time as there are processors
run_cases() {
	printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'run_test {}'
	for test; do
		retell "$test"
	done
}
