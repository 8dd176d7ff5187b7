#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The stock mq-deadline and the series' side by side on two processors that QEMU emulates, with lockdep:
# how often the lock is taken, what is merged, and a stress under which nothing may be lost. Counts only; minutes.
# LAB_CONFIG=uml-debug, which `make check-lab-debug` says: with KASAN and more checks as well, for longer.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
config=smp-block
[[ ${LAB_CONFIG:-} != *-debug ]] || config=smp-block-debug
ktree=("$here/../../kernel/ktree" --kernel "${LAB_KERNEL:-6.12}")
. "$here/../lab/lib.sh"

command -v qemu-system-x86_64 >/dev/null || skip_all 'no qemu-system-x86_64; share/vm-packages lists what is wanted'
out=$("${ktree[@]}" build "$config") || bail_out 'the kernel does not build'
stock=$("$here/make-stock" "$("${ktree[@]}" path)" "$out" x86_64) || bail_out 'the stock scheduler does not build as a module'
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

make_initrd() {
	"${CC:-cc}" -O2 -Wall -static -pthread -o "$work/guest" "$here"/{guest,load,stress}.c &&
		printf '%s\n' 'dir /dev 755 0 0' 'nod /dev/console 600 0 0 c 5 1' "file /init $work/guest 755 0 0" \
			"file /dd-stock.ko $stock 644 0 0" > "$work/list" &&
		"$out/usr/gen_init_cpio" "$work/list" > "$work/initrd"
}

# The time limit is for a machine that hangs, not for a slow one.
boot() {
	timeout "${TIMEOUT:-3000}" qemu-system-x86_64 -accel tcg,thread=multi -smp 2 -m 768 -display none -no-reboot \
		-serial "file:$work/console" -kernel "$out/arch/x86/boot/bzImage" -initrd "$work/initrd" \
		-append 'console=ttyS0 panic=-1 no_timer_check loglevel=5 null_blk.nr_devices=0'
	tr -d '\r' < "$work/console" > "$work/out"
}

# value WHAT SCHEDULER THREADS: count for each I/O, or I/Os for each
value() {
	awk -v what="$1" -v s="$2" -v n="$3" '$1 == what && $2 == s && $3 == n { printf "%.3f", what == "takes" ? $4 / $5 : $5 / $4 }' "$work/out"
}

compare() {
	local n

	for n in 1 8 32 64; do
		in_range "$(value takes dd-stock $n)" 2 10 "$n threads: lock takes for each read, stock"
		in_range "$(value takes mq-deadline $n)" 0.1 0.55 "$n threads: lock takes for each read"
	done
	# How many writes meet in the queue is a matter of speed, which these checks take away.
	[ "$config" = smp-block ] || return 0
	for n in 8 32 64; do
		in_range "$(awk "BEGIN { print $(value merge mq-deadline $n) / $(value merge dd-stock $n) }")" 0.9 100 \
			"$n threads: writes in a request, of stock's ($(value merge dd-stock $n))"
	done
}

make_initrd || bail_out 'no initramfs'
boot
diag "$(cat "$work/out")"
is "$(grep -cE '^end$' "$work/out")" 1 'the machine came to its end'
compare
in_range "$(sed -n 's/^stress ios \([0-9]*\) .*/\1/p' "$work/out")" 1000 1000000000 'stress: each block read is what was written'
in_range "$(sed -n 's/^stress .* switched //p' "$work/out")" 4 1000000 'stress: schedulers were switched'
for what in inflight queued owned; do
	is "$(sed -n "s/^$what *//p" "$work/out" | tr -s ' ' '\n' | sort -u)" 0 "stress: nothing is left $what"
done
is "$(sed -n 's/^lockdep *//p' "$work/out")" 1 'lockdep has not turned itself off'
is "$(grep -cE 'BUG:|WARNING:|INFO: |Oops|Kernel panic|possible (circular|recursive)' "$work/out")" 0 'the kernel does not complain'
done_testing
