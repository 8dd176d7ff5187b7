#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages on Debian's own kernel, in a machine: install, do the main job, reboot, purge, reboot.
# The root file system is on btrfs too, so a wrong module or initramfs is a machine that does not boot.
set -u
. "$(dirname "$0")/lib.sh"
. "$here/machine.sh"

prepare_guest() {
	local root=$1
	install -D "$here/guest" "$root/usr/local/sbin/vm-test"
	mkdir -p "$root/var/lib/vm-test"
	in_root "$root" dpkg-query -W -f '${Version}' btrfs-policy-dkms > "$root/var/lib/vm-test/version"
	echo 'vm-test' > "$root/etc/hostname"
	echo '/dev/vda / btrfs defaults 0 0' > "$root/etc/fstab"
	cat > "$root/etc/systemd/system/vm-test.service" <<-'UNIT'
		[Unit]
		Description=One phase of the test
		After=mnt-array.mount local-fs.target systemd-user-sessions.service
		SuccessAction=poweroff
		FailureAction=poweroff

		[Service]
		Type=oneshot
		ExecStart=/usr/local/sbin/vm-test
		TimeoutStartSec=infinity
		StandardOutput=file:/dev/ttyS1
		StandardError=file:/dev/ttyS1
	UNIT
}

install_packages() {
	mkdir "$1/debs" && cp "$build"/deb/*.deb "$1/debs/" &&
		apt_in "$1" install $(cd "$1" && printf '/%s ' debs/*.deb) && rm -r "$1/debs"
}

module_is_built() {
	in_root "$1" dkms status btrfs-policy | tee /dev/stderr | grep -q ": installed\$"
}

need_tools mmdebstrap qemu-system-x86_64 mkfs.btrfs zstd
mkdir -p "$cache"
kernel=$(newest_kernel)
[ -n "$kernel" ] || skip_all 'apt offers no Linux 6.12; apt-get update?'
work=$(mktemp -d "$(fast_folder)/vm.XXXXXX")
trap 'rm -rf "$work"' EXIT

check "Debian $suite with Linux $kernel" base_archive "$kernel" || finish
mkdir "$work/root"
tar -xf "$(base_archive "$kernel")" -C "$work/root"
check 'apt install ./*.deb' install_packages "$work/root" || finish
check 'DKMS has put the module in' module_is_built "$work/root" || finish
prepare_guest "$work/root"
check 'disks' machine_disks "$work" "$work/root" || finish
rm -rf "$work/root"
for phase in 1 2 3; do
	boot "$work" "$kernel" "$phase"
done
echo "# accelerator: $(cat "$work/accelerator"), seconds in all: $SECONDS"
finish
