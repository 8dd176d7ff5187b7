#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages on Debian's own kernel, in a machine: upgraded, they do the main job, over a reboot, then
# are removed, reboot, purged. The units run in their sandbox.
# The root file system is on btrfs too, so a wrong module or initramfs is a machine that does not boot.
set -u
. "$(dirname "$0")/lib.sh"
. "$here/life.sh"
. "$here/machine.sh"

prepare_guest() {
	local root=$1
	install -D "$here/guest" "$root/usr/local/sbin/vm-test"
	mkdir -p "$root/var/lib/vm-test"
	echo "$version" > "$root/var/lib/vm-test/version"
	cp "$top/README.md" "$root/var/lib/vm-test/"
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
	patient "$root"
	drop_in "$root" systemd-user-sessions.service 'ExecStartPre=/usr/local/sbin/vm-test before-login'
	drop_in "$root" emergency.service 'ExecStartPre=/bin/systemctl poweroff --force --force'
	echo 'SUBSYSTEM=="bdi", PROGRAM="/usr/local/sbin/vm-test udev"' > "$root/etc/udev/rules.d/10-vm-test.rules"
}

# However slow the host is, nothing that systemd waits for is given up. For all services and not for ours by name,
# which the last phase would take for a file that is left.
patient() {
	mkdir -p "$1/etc/systemd/system.conf.d"
	printf '[Manager]\nDefaultTimeoutStartSec=30min\nDefaultDeviceTimeoutSec=30min\n' \
		> "$1/etc/systemd/system.conf.d/vm-test.conf"
	drop_in "$1" service TimeoutStartSec=infinity
}

# drop_in ROOT UNIT LINE: what the test adds to a service: the one that lets users log in first notes
# which policies are in force, and a boot that fails ends.
drop_in() {
	mkdir -p "$1/etc/systemd/system/$2.d"
	printf '[Service]\n%s\n' "$3" > "$1/etc/systemd/system/$2.d/vm-test.conf"
}

begin vm qemu-system-x86_64 mkfs.btrfs
if ! kept_root; then
	try 'an initramfs' small_initramfs || done_testing
	upgrades
	keep_root
fi
rm -r "$root/debs"
prepare_guest "$root"
try 'disks' machine_disks "$work" "$root" || done_testing
rm -rf "$root"
for phase in 1 2 3; do
	boot "$work" "$kernel" "$phase" || break
done
echo "# accelerator: $(cat "$work/accelerator"), seconds in all: $SECONDS"
done_testing
