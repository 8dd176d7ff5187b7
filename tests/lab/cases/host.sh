# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The host's half of a test in the lab.  A case is one script that runs twice:
# it begins with
#	[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
# or, in tests of the machine, with $(dirname "$0")/../cases/host.sh.
# On the host that line starts the machine, with the options of the script's
# `# lab:` lines, runs the script in there and ends it with the script's status.
# A case with a line `# machines: NAME...` gets a machine for each name, and the
# name as its argument: the others still run when the kernel of one dies. Lines
# `# lab NAME:` are options for that one. Those of a line `# machines at night:`
# are for LAB_NIGHT=yes, which the long targets set, or LAB_MACHINES=NAME.
# A case that looks at its disks from outside afterwards has `# images:` and a
# function on_host in a file of its own, NAME.host.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case_file=$(realpath "$0")
build=${top_builddir:-$here/../../../build}
cache=${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}
. "$here/../machine/lib.sh"

need() {
	[ -e "$1" ] || skip_all "$2"
}

# Words after `# lab:`, one option or value each.
options=(--mem 1G --timeout "${LAB_TIMEOUT:-1800}")
read -ra words < <(sed -n 's/^# lab: *//p' "$case_file" | xargs)
options+=(${words[@]+"${words[@]}"})

kernel=$cache/${LAB_KERNEL:-6.12}/build-${LAB_CONFIG:-uml}/linux
need "$kernel" "no lab kernel; ./quickstart builds it"
[ -e "$build/root/usr/bin/btrfs-policy" ] ||
	bail_out "no commands in $build/root/usr/bin; make check-lab installs them if configured with --prefix=/usr"
build=$(realpath "$build")
# The whole source tree: histories copy from it.
options+=(--kernel "$kernel" --share "$(realpath "$here/../../..")" --share "$build"
	--env "PATH=$build/root/usr/bin:$PATH" --env "LD_LIBRARY_PATH=$build/root/usr/lib")

work=$(mktemp -d "${TMPDIR:-/dev/shm}/case.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
host_part=${case_file%.sh}.host
[ ! -e "$host_part" ] || options+=(--images "$work")

# Numbers the tests of all machines in one row.
renumber() {
	local line n=0

	while IFS= read -r line; do
		[[ $line =~ ^(not\ )?ok\ [0-9]+(.*) ]] && line="${BASH_REMATCH[1]}ok $((++n))${BASH_REMATCH[2]}"
		printf '%s\n' "$line"
	done
}

# run_machine [NAME]
run_machine() {
	local status=0
	local -a own

	read -ra own < <(sed -n "s/^# lab ${1:-}: *//p" "$case_file" | xargs)
	"$here/../machine/lab" run "${options[@]}" ${own[@]+"${own[@]}"} -- "$case_file" "$@" > "$work/one" || status=$?
	sed -n 's/^1\.\.0 # SKIP/ok 0 - # SKIP/; /^1\.\./!p' "$work/one"
	[ "$status" -le 1 ] || echo "not ok 0 - ${*:+$*: }the lab ended with status $status"
	grep -q '^1\.\.' "$work/one" || echo "not ok 0 - ${*:+$*: }the case came to its end"
}

night=${LAB_NIGHT:-}${LAB_MACHINES:-}
read -ra machines < <(sed -n "s/^# machines${night:+\\( at night\\)\\?}: *//p" "$case_file" | xargs)
for machine in ${LAB_MACHINES:-}; do
	[[ " ${machines[*]} " == *" $machine "* ]] || bail_out "LAB_MACHINES: this case has no machine '$machine'"
done
[ ${#machines[@]} != 0 ] || machines=('')
for machine in "${machines[@]}"; do
	[ -n "${LAB_MACHINES:-}" ] && [[ " $LAB_MACHINES " != *" $machine "* ]] ||
		run_machine ${machine:+"$machine"}
done | renumber | tee "$work/out"
tap_n=$(grep -cE '^(not )?ok ' "$work/out")
tap_failed=$(grep '^not ok ' "$work/out" | grep -vc '# TODO ')
[ ! -e "$host_part" ] || . "$host_part"
done_testing
