# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A machine of several processors for what the lab, which has one, cannot show:
# QEMU executes the instructions of a kernel of kernel/configs/smp.config one by one
# and its clock counts them, so neither the host's speed nor its load is in anything.
# Owns the folder it is given; needs no root, and no disk of the host is seen.

smp=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
smp_cache=${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}/6.12

# smp_lacks CONFIG: prints what is not there to run such a kernel, if anything.
smp_lacks() {
	local tool

	for tool in qemu-system-x86_64 busybox cpio mkfs.btrfs btrfs chattr cc; do
		command -v "$tool" >/dev/null || { echo "no $tool"; return; }
	done
	[ -e "$(smp_kernel "$1")" ] || echo "no kernel; kernel/ktree build $1 makes it"
}

smp_kernel() {
	echo "$smp_cache/build-$1/arch/x86/boot/bzImage"
}

# The host's programs with the libraries they need; busybox may need none.
smp_copy() {
	local tree=$1 program file

	shift
	for program; do
		file=$(PATH=$PATH:/usr/sbin:/sbin command -v "$program")
		cp "$file" "$tree/bin/"
		{ ldd "$file" 2>/dev/null || true; } | sed -n 's,[^/]*\(/[^ ]*\.so[^ ]*\).*,\1,p' | while read -r file; do
			[ -e "$tree$file" ] || install -D "$file" "$tree$file"
		done
	done
}

# What a program loads only when a thread of it is cancelled, as scrub does.
smp_copy_libgcc() {
	local file

	file=$(PATH=$PATH:/sbin ldconfig -p | awk '/libgcc_s\.so\.1 .*x86-64/ { print $NF; exit }')
	[ -z "$file" ] || install -D "$file" "$1$file"
}

# smp_initramfs DIR GUEST: an initramfs in which the script GUEST is init; prints its file.
smp_initramfs() {
	local tree=$1/tree guest=$2 word

	mkdir -p "$tree"/{bin,proc,sys,dev,mnt,tmp,etc,run}
	smp_copy "$tree" mkfs.btrfs btrfs busybox chattr
	smp_copy_libgcc "$tree"
	for word in $(busybox --list); do
		[ -e "$tree/bin/$word" ] || ln -s busybox "$tree/bin/$word"
	done
	cc -O2 -static -pthread -o "$tree/bin/reads" "$smp/reads.c"
	install -m 755 "$guest" "$tree/init"
	(cd "$tree" && find . | cpio -o -H newc --quiet) > "$1/initramfs"
	echo "$1/initramfs"
}

# How the processors run: in turn and counted; a test of what happens at the same time sets
# another way, and the nanoseconds that a device takes for a request.
smp_accel=(-accel 'tcg,thread=single' -icount 'shift=0,sleep=off')
smp_latency=0
# The null_blk disks: how many, of how many GiB.
smp_disks=4
smp_gigabytes=1

# smp_run CONFIG CPUS INITRAMFS [APPEND]: what the machine says on its serial line.
smp_run() {
	local append="console=ttyS0 panic=-1 reboot=t quiet no_timer_check tsc=reliable ${4:-}"

	append+=" null_blk.nr_devices=$smp_disks null_blk.memory_backed=1 null_blk.gb=$smp_gigabytes null_blk.bs=4096"
	append+=" null_blk.queue_mode=2 null_blk.submit_queues=$2"
	append+=" null_blk.irqmode=$((smp_latency ? 2 : 0)) null_blk.completion_nsec=$smp_latency"
	# The processors are listed in a table that has one line a socket.
	timeout 3000 qemu-system-x86_64 -M pc -cpu qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt "${smp_accel[@]}" \
		-smp "$2,sockets=$2,cores=1,threads=1" -m 1200 -nodefaults -display none -no-reboot -serial stdio \
		-kernel "$(smp_kernel "$1")" -initrd "$3" -append "$append" </dev/null | tr -d '\r'
}
