#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages on Debian's own kernel, in a machine: upgraded, they do the main job, over a reboot, then
# are removed, reboot, purged.
# The root file system is on btrfs too, so a wrong module or initramfs is a machine that does not boot.
set -u
. "$(dirname "$0")/lib.sh"
. "$here/life.sh"
. "$here/machine.sh"

# An initramfs for this machine alone: the emulated processor packs and unpacks it often.
small_initramfs() {
	printf '%s\n' virtio_pci virtio_blk virtio_scsi sd_mod btrfs > "$1/etc/initramfs-tools/modules"
	printf '%s\n' MODULES=list COMPRESS=zstd COMPRESSLEVEL=1 > "$1/etc/initramfs-tools/conf.d/vm-test"
}

prepare_guest() {
	local root=$1
	install -D "$here/guest" "$root/usr/local/sbin/vm-test"
	mkdir -p "$root/var/lib/vm-test"
	echo "$version" > "$root/var/lib/vm-test/version"
	echo 'vm-test' > "$root/etc/hostname"
	echo '/dev/vda / btrfs defaults 0 0' > "$root/etc/fstab"
	cat > "$root/etc/systemd/system/vm-test.service" <<-'UNIT'
		[Unit]
		Description=One phase of the test
		After=local-fs.target systemd-user-sessions.service
		SuccessAction=poweroff
		FailureAction=poweroff

		[Service]
		Type=oneshot
		ExecStart=/usr/local/sbin/vm-test
		TimeoutStartSec=infinity
		StandardOutput=file:/dev/ttyS1
		StandardError=file:/dev/ttyS1
	UNIT
	drop_in "$root" systemd-user-sessions.service 'ExecStartPre=/usr/local/sbin/vm-test before-login'
	drop_in "$root" emergency.service 'ExecStartPre=/bin/systemctl poweroff --force --force'
	echo 'SUBSYSTEM=="bdi", PROGRAM="/usr/local/sbin/vm-test udev"' > "$root/etc/udev/rules.d/10-vm-test.rules"
}

# drop_in ROOT UNIT LINE: what the test adds to a service: the one that lets users log in first notes
# which policies are in force, and a boot that fails ends.
drop_in() {
	mkdir -p "$1/etc/systemd/system/$2.d"
	printf '[Service]\n%s\n' "$3" > "$1/etc/systemd/system/$2.d/vm-test.conf"
}

# The disk takes what an upgrade left, so that it is an upgraded machine that boots.
install_packages() {
	mkdir -p "$root/debs/new" && cp "$build"/deb/*.deb "$root/debs/new/"
	check 'a build before this one' make_previous || finish
	check 'it installs' install_debs previous || finish
	check 'apt install ./*.deb upgrades it' install_debs new || finish
	check 'DKMS has put the new module in' module_is "$version" || finish
	check 'it is in the initramfs' initramfs_has updates/dkms
	rm -r "$root/debs"
}

need_tools mmdebstrap qemu-system-x86_64 mkfs.btrfs zstd
kernel=$(offered_kernels | tail -n 1)
check "Debian $suite offers Linux 6.12" test -n "$kernel" || finish
work=$(mktemp -d "$(fast_folder)/vm.XXXXXX")
trap 'rm -rf "$work"' EXIT

check "Debian $suite with Linux $kernel" base_archive "$kernel" || finish
root=$work/root
version=$(dpkg-deb -f "$build"/deb/btrfs-policy_*.deb Version)
mkdir "$root" && tar -xf "$(base_archive "$kernel")" -C "$root"
small_initramfs "$root"
install_packages
prepare_guest "$root"
check 'disks' machine_disks "$work" "$root" || finish
rm -rf "$root"
for phase in 1 2 3; do
	boot "$work" "$kernel" "$phase"
done
echo "# accelerator: $(cat "$work/accelerator"), seconds in all: $SECONDS"
finish
