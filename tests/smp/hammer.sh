#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# hammer.sh [ROUNDS]: the read policy on four emulated processors that run at the same time, on a kernel with
# lockdep and its relatives, under everything that may happen to it at once. Counts and contents only, no times.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../lab/machine/lib.sh"
. "$here/machine.sh"

"$here/../../kernel/ktree" build smp-debug >/dev/null || bail_out 'the kernel does not build'
lacking=$(smp_lacks smp-debug)
[ -z "$lacking" ] || skip_all "$lacking; share/vm-packages lists what is wanted"
work=$(mktemp -d "${TMPDIR:-/dev/shm}/hammer.XXXXXX") && trap 'rm -rf "$work"' EXIT
rounds=${1:-2}

fact() {
	sed -n "s/^fact $1 *//p" "$work/out"
}

smp_accel=(-accel 'tcg,thread=multi')
smp_latency=100000
initramfs=$(smp_initramfs "$work" "$here/hammer-guest") || bail_out 'no initramfs'
smp_run smp-debug 4 "$initramfs" "preempt=full hammer=$rounds" > "$work/out"
is "$(grep -c '^end of hammer' "$work/out")" 1 'the machine came to its end' || diag "$(tail -n 40 "$work/out")"
is "$(fact operations)" $((2 + 10 * rounds)) 'devices were added, removed and replaced, the file system scrubbed and mounted anew'
in_range "$(fact switched)" $((10 * rounds)) 100000000 'policies and penalties were changed'
is "$(fact bad)" '' 'no reader or writer saw an error, no content differs, nothing was left in flight'
is "$(fact lockdep)" 1 'lockdep has not turned itself off'
is "$(grep -E '^complaint |Kernel panic' "$work/out")" '' 'the kernel does not complain'
done_testing
