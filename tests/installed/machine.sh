# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The machine of the tests on Debian's own kernel: its disks and its boots. Sourced after lib.sh.
# The boot loader's part is played here: kernel and initramfs are read out of the root image at each
# boot, so that what an installation in the machine wrote is what the next boot runs.

# machine_disks DIR ROOT: an image of ROOT on btrfs, two hard disks and two SSDs.
machine_disks() {
	local dir=$1 root=$2 disk
	truncate -s 4G "$dir/root.img"
	mkfs.btrfs -q -L vm-root --rootdir "$root" "$dir/root.img" >/dev/null || return
	for disk in hdd1 hdd2 ssd1 ssd2; do
		truncate -s 3G "$dir/$disk.img"
	done
}

# Opening an accelerator proves nothing: it has to run a kernel.
accelerator() {
	local dir=$1
	timeout 10 qemu-system-x86_64 -accel kvm -m 256 -nodefaults -display none -no-reboot \
		-kernel "$dir/boot/vmlinuz" -append 'console=ttyS0 panic=-1' \
		-serial "file:$dir/probe" </dev/null >/dev/null 2>&1
	grep -q 'Linux version' "$dir/probe" 2>/dev/null && echo kvm || echo tcg,thread=multi
}

read_boot_files() {
	local dir=$1 kernel=$2 pattern
	pattern=$(sed 's/[.+]/\\&/g' <<< "$kernel")
	rm -rf "${dir:?}/boot"
	mkdir "$dir/boot"
	btrfs restore --path-regex "^/(|boot(|/(vmlinuz|initrd\.img)-$pattern))\$" \
		"$dir/root.img" "$dir/boot" >/dev/null 2>"$dir/restore.log" || return
	mv "$dir/boot/boot/vmlinuz-$kernel" "$dir/boot/vmlinuz" &&
	mv "$dir/boot/boot/initrd.img-$kernel" "$dir/boot/initrd"
}

array_options() {
	local dir=$1 disk rate
	for disk in hdd1:7200 hdd2:7200 ssd1:1 ssd2:1; do
		rate=${disk#*:} disk=${disk%:*}
		printf '%s\n' -drive "if=none,id=$disk,format=raw,file=$dir/$disk.img,cache=unsafe" \
			-device "scsi-hd,drive=$disk,serial=$disk,rotation_rate=$rate"
	done
}

# boot DIR KERNEL PHASE: runs the guest's part of that phase and takes its lines over. Fails if it has no end.
# An emulated machine on a busy host is slow and nothing else: no timer of it is broken because it is late
# (no_timer_check), no limit of udev is reached, and what ends it in the end is for one that hangs.
boot() {
	local dir=$1 kernel=$2 phase=$3 line
	local -a array
	try "phase $phase: a kernel and its initramfs are in the image" \
		read_boot_files "$dir" "$kernel" || return
	[ -s "$dir/accelerator" ] || accelerator "$dir" > "$dir/accelerator"
	mapfile -t array < <(array_options "$dir")
	timeout 2h qemu-system-x86_64 -accel "$(cat "$dir/accelerator")" -smp 2 -m 1500 \
		-nodefaults -display none -no-reboot -M q35,sata=off,smbus=off \
		-kernel "$dir/boot/vmlinuz" -initrd "$dir/boot/initrd" \
		-append "root=/dev/vda rw console=ttyS0 panic=-1 quiet no_timer_check mitigations=off udev.event_timeout=1800 systemd.wants=vm-test.service vm-test.phase=$phase" \
		-drive "if=virtio,format=raw,file=$dir/root.img,cache=unsafe" \
		-device virtio-rng-pci -device virtio-scsi-pci "${array[@]}" \
		-serial "file:$dir/console.$phase" -serial "file:$dir/tap.$phase" </dev/null
	while read -r line; do
		take_over "$phase" "$line"
	done < <(tr -d '\r' < "$dir/tap.$phase")
	try "phase $phase: came to its end" grep -q '^end of phase' "$dir/tap.$phase" || {
		tail -n 30 "$dir/console.$phase" | tr -d '\r' | sed 's/^/# /'
		return 1
	}
}

take_over() {
	case $2 in
	'ok - '*) ok "phase $1: ${2#ok - }" ;;
	'not ok - '*)
		not_ok "phase $1: ${2#not ok - }" ;;
	'# '*) echo "$2" ;;
	esac
}
