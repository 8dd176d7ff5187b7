# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A machine of several processors that QEMU emulates, for smp.sh and mutants.sh: its kernel, its schedulers, its
# only program, and what it has printed.
config=smp-block
[[ ${LAB_CONFIG:-} != *-debug ]] || config=smp-block-debug
. "$here/../lab/machine/lib.sh"

command -v qemu-system-x86_64 >/dev/null || skip_all 'no qemu-system-x86_64; share/vm-packages lists what is wanted'
out=$("$here/../../kernel/ktree" build "$config") || bail_out 'the kernel does not build'
tree=$("$here/../../kernel/ktree" path)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -O2 -Wall -static -pthread -o "$work/guest" "$here"/{guest,load,stress}.c || bail_out 'the program does not build'

# module NAME COMMIT SED...
module() {
	"$here/make-module" "$tree" "$out" x86_64 "$@" >/dev/null
}

# test_module SED...: the series' own as it was built, with delays, and broken in that way
test_module() {
	module dd-test HEAD "$@" "$(cat "$here/delays.sed")"
}

# boot ARGUMENT...: with each of the modules that has been built; the time limit is for a machine that hangs. Sets
# qemu_status, 124 if it was reached. Fails if there is no machine; what an earlier one has printed is gone.
boot() {
	local name

	rm -f "$work/console" "$work/out"
	qemu_status='unknown'
	printf '%s\n' 'dir /dev 755 0 0' 'nod /dev/console 600 0 0 c 5 1' "file /init $work/guest 755 0 0" > "$work/list"
	for name in dd-stock dd-test; do
		[ ! -f "$out/$name/$name.ko" ] || echo "file /$name.ko $out/$name/$name.ko 644 0 0" >> "$work/list"
	done
	"$out/usr/gen_init_cpio" "$work/list" > "$work/initrd" || return
	timeout "${TIMEOUT:-3000}" qemu-system-x86_64 -accel tcg,thread=multi -smp "${CPUS:-2}" -m 768 -display none -no-reboot \
		-serial "file:$work/console" -kernel "$out/arch/x86/boot/bzImage" -initrd "$work/initrd" \
		-append "console=ttyS0 panic=-1 no_timer_check loglevel=5 hung_task_panic=1 null_blk.nr_devices=0 scsi_debug.dev_size_mb=64 scsi_debug.ndelay=50000 scsi_debug.max_queue=8 -- $*"
	qemu_status=$?
	[ -s "$work/console" ] || return
	tr -d '\r' < "$work/console" > "$work/out"
}

complaints() {
	grep -cE 'BUG:|WARNING:|INFO: |Oops|Kernel panic|list_(add|del) corruption|possible (circular|recursive)' "$work/out"
}
