#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Five minutes of the storm: first the kept cases, then histories of a fresh seed,
# which is printed. STORM_SEED= repeats a seed, STORM_MINUTES= changes the time,
# STORM_CPUS= takes so many emulated processors in place of the lab.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lab/machine/lib.sh"
cache=${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}
export top_builddir=${top_builddir:-$here/../../build}

if [ -n "${STORM_CPUS:-}" ]; then
	command -v qemu-system-x86_64 >/dev/null || skip_all 'no qemu-system-x86_64'
	"$here/../../kernel/ktree" build storm-smp >/dev/null || bail_out 'the kernel does not build'
else
	[ -e "$cache/${LAB_KERNEL:-6.12}/build-${LAB_CONFIG:-uml}/linux" ] ||
		skip_all 'no lab kernel; ./quickstart builds it'
fi
[ -e "$top_builddir/root/usr/bin/btrfs-policy" ] ||
	bail_out "no commands in $top_builddir/root/usr/bin; make check-storm installs them if configured with --prefix=/usr"
exec python3 "$here/storm" ${STORM_CPUS:+--cpus "$STORM_CPUS"} check --minutes "${STORM_MINUTES:-5}" \
	--results "$top_builddir/tests/storm-results.json" --findings "$top_builddir/tests/storm-findings" \
	${STORM_CPUS:+--jobs 1} ${STORM_SEED:+--seed "$STORM_SEED"}
