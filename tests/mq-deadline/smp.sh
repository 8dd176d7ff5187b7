#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The stock mq-deadline and the series' side by side on two processors that QEMU emulates, with lockdep:
# how often its locks are taken, what is merged, and a stress under which nothing may be lost, on null_blk and on a
# SCSI disk, to which requests go one at a time. Counts only; minutes.
# LAB_CONFIG=uml-debug, which `make check-lab-debug` says: with KASAN and more checks as well, for longer.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/machine.sh"

# value WHAT SCHEDULER THREADS: count for each I/O, or I/Os for each
value() {
	awk -v what="$1" -v s="$2" -v n="$3" '$1 == what && $2 == s && $3 == n { printf "%.3f", what == "takes" ? $4 / $5 : $5 / $4 }' "$work/out"
}

compare() {
	local n what

	for n in 1 8 32 64; do
		in_range "$(value takes dd-stock $n)" 2 10 "$n threads: lock takes for each read, stock"
		in_range "$(value takes mq-deadline $n)" 0.1 0.65 "$n threads: lock takes for each read"
	done
	# How many writes meet in the queue is a matter of speed, which these checks take away.
	[ "$config" = smp-block ] || return 0
	for what in merge plugged; do
		for n in 8 32 64; do
			in_range "$(awk "BEGIN { print $(value $what mq-deadline $n) / $(value $what dd-stock $n) }")" 0.9 100 \
				"$what, $n threads: writes in a request, of stock's ($(value $what dd-stock $n))"
		done
	done
}

# stressed DISK
stressed() {
	local what

	in_range "$(sed -n "s/^stress $1 ios \([0-9]*\) .*/\1/p" "$work/out")" 1000 1000000000 "$1: each block read is what was written"
	in_range "$(sed -n "s/^stress $1 .* switched //p" "$work/out")" 4 1000000 "$1: schedulers were switched"
	in_range "$(sed -n "s/^rounds $1 //p" "$work/out")" 100 1000000 "$1: rounds of single requests end"
	for what in inflight queued owned parked; do
		is "$(sed -n "s/^$what $1 *//p" "$work/out" | tr -s ' ' '\n' | sort -u)" 0 "$1: nothing is left $what"
	done
}

module dd-stock base || bail_out 'the stock scheduler does not build as a module'
test_module || bail_out 'the scheduler with delays does not build as a module'
boot || bail_out "the machine does not start, status $qemu_status"
diag "$(cat "$work/out")"
is "$(grep -cE '^end$' "$work/out")" 1 'the machine came to its end'
compare
stressed nullb_stress
stressed sda
is "$(sed -n 's/^lockdep *//p' "$work/out")" 1 'lockdep has not turned itself off'
is "$(complaints)" 0 'the kernel does not complain'
done_testing
