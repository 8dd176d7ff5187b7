#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# KERNEL=VERSION LAB_TESTS=FILES: the series for another kernel than the default
# one, from its source to every test of the lab on it.
# Owns the order, and kernel-VERSION.tap in the build folder, which
# kernel/support-table reads. Each result of a test in there is one here.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
kernel=${KERNEL:-}
export LAB_KERNEL=$kernel LAB_CONFIG=${LAB_CONFIG:-uml-experimental}
tests=0

result() {
	tests=$((tests + 1))
	printf '%s %d - %s\n' "$1" "$tests" "$2"
}

# step WHAT COMMAND...
step() {
	local what=$1 status
	shift
	"$@" 2>&1 | sed 's/^/# /'
	status=${PIPESTATUS[0]}
	[ "$status" -eq 0 ] && result ok "$what" || result 'not ok' "$what"
	return "$status"
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
		'ok '*|'not ok '*) result "${line%% [0-9]*}" "$name: ${line#*[0-9] - }" ;;
		'1..0 # SKIP'*) result ok "$name # SKIP ${line#*SKIP }" ;;
		'1..'*) ;;
		*) printf '# %s\n' "${line#\# }" ;;
		esac
	done < "$out.out"
	if ! grep -q '^1\.\.' "$out.out" ||
	   { [ "$(cat "$out.status")" != 0 ] && ! grep -q '^not ok' "$out.out"; }; then
		sed 's/^/# /' "$out.err"
		result 'not ok' "$name: came to its end (status $(cat "$out.status"))"
	fi
}

run() {
	local test
	step 'the series applies, exports to the same bytes and is checkpatch-clean' \
		"$top/kernel/ktree" --kernel "$kernel" check || return
	step 'every patch builds alone without a warning' "$top/kernel/ktree" --kernel "$kernel" check --build
	step 'the kernel builds' "$top/kernel/ktree" --kernel "$kernel" build "$LAB_CONFIG" || return
	step 'the disks of the lab build' "$top/tests/lab/lab" build || return
	printf '%s\n' $LAB_TESTS | xargs -P "$(nproc)" -I{} bash -c 'run_test {}'
	for test in $LAB_TESTS; do
		retell "$test"
	done
}

if [ ! -e "$top/kernel/$kernel/BASE" ]; then
	echo "Bail out! no series for kernel '$kernel'; KERNEL= one of $(cd "$top/kernel" && echo [0-9]*)"
	exit 1
fi
reason=$("$top/kernel/fetch-source" "$kernel" 2>&1 >/dev/null)
case $? in
0) ;;
77) echo "1..0 # SKIP $(tail -n 1 <<< "$reason")"; exit 0 ;;
*) echo "Bail out! kernel/fetch-source $kernel: $(tail -n 1 <<< "$reason")"; exit 1 ;;
esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export dir top
export -f run_test
mkdir -p "$top_builddir/tests/series"
tap=$top_builddir/tests/series/kernel-$kernel.tap
{
	run
	echo "1..$tests"
} > "$tap.new"
mv "$tap.new" "$tap"
cat "$tap"
