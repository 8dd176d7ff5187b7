#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The units that restore settings, under the systemd of a small Debian, in their sandbox. The running kernel is a
# stock one: it has btrfs and no roles. What needs roles, and a real boot, is in main-job.sh.
set -u
. "$(dirname "$0")/lib.sh"
. "$here/life.sh"

# set_role IMAGE NUMBER: of the only device, in the chunk tree and both superblocks, as a kernel with roles writes it.
set_role() {
	python3 - "$@" <<-'PY'
		import struct, sys
		def crc32c(data):
		    crc = 0xffffffff
		    for byte in data:
		        crc ^= byte
		        for _ in range(8):
		            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
		    return crc ^ 0xffffffff
		def change(file, at, size, place):
		    file.seek(at)
		    block = bytearray(file.read(size))
		    struct.pack_into("<Q", block, place(block) + 36, int(sys.argv[2]))
		    struct.pack_into("<I", block, 0, crc32c(block[32:]))
		    file.seek(at)
		    file.write(block)
		def device_item(leaf):
		    for i in range(struct.unpack_from("<I", leaf, 96)[0]):
		        kind, _, offset = struct.unpack_from("<BQI", leaf, 101 + 25 * i + 8)
		        if kind == 216:
		            return 101 + offset
		    raise SystemExit("no device item")
		with open(sys.argv[1], "r+b") as file:
		    data = file.read()
		    root, = struct.unpack_from("<Q", data, 65536 + 88)
		    size, = struct.unpack_from("<I", data, 65536 + 148)
		    for at in range(1 << 20, len(data), 4096):
		        if data[at + 48:at + 56] == struct.pack("<Q", root):
		            change(file, at, size, device_item)
		    for at in 64 << 10, 64 << 20:
		        change(file, at, 4096, lambda block: 201)
	PY
}

images() {
	local name
	for name in plain tagged; do
		truncate -s 256M "$root/$name" && mkfs.btrfs -q -f "$root/$name" || return
	done
	set_role "$root/tagged" 2 && "$build/cmds/btrfs-policy" show -T --offline "$root/tagged" | grep metadata-only
}

# The unit's sandbox around another program.
probe_unit() {
	local units=$root/usr/lib/systemd/system
	sed 's|^ExecStart=.*|ExecStart=/usr/local/sbin/units-guest probe|' "$units/btrfs-policy-restore@.service" \
		> "$units/probe@.service"
}

prepare() {
	install -D "$here/units-guest" "$root/usr/local/sbin/units-guest" && probe_unit && rm -f "$root/etc/fstab" &&
	cat > "$root/etc/systemd/system/units.service" <<-'UNIT'
		[Unit]
		DefaultDependencies=no
		After=systemd-journald.socket
		Wants=systemd-journald.socket systemd-journald.service
		SuccessAction=poweroff-force
		FailureAction=poweroff-force

		[Service]
		Type=oneshot
		ExecStart=/usr/local/sbin/units-guest
		StandardOutput=file:/tap
		StandardError=file:/tap
	UNIT
}

# systemd as the first process of its own namespaces, in a control group of its own.
start() {
	local group=$work/cgroup
	mkdir "$group" && mount -t cgroup2 none "$group" && mkdir "$group/btrfs-policy-$$" || return
	timeout 10m unshare --mount --pid --fork --uts --ipc --propagation private bash -c '
		echo 0 > "$1/cgroup.procs" && mount --bind "$2" "$2" && cd "$2" && mount --rbind /dev dev && mount --rbind /sys sys &&
		mount -t tmpfs none sys/fs/cgroup && mount -t proc none proc && mount -t tmpfs none run &&
		exec unshare --cgroup bash -c "mount -t cgroup2 none sys/fs/cgroup &&
			exec chroot . /usr/bin/env -i container=other PATH=$0 /lib/systemd/systemd --system --unit=units.service"' \
		"$path" "$group/btrfs-policy-$$" "$root" > "$work/console" 2>&1
	find "$group/btrfs-policy-$$" -depth -type d -exec rmdir {} +
	umount "$group"
	grep -q '^end$' "$root/tap" || { cat "$work/console" "$root/tap"; return 1; }
}

results() {
	local line
	while read -r line; do
		case $line in
		'ok - '*) ok "${line#ok - }" ;;
		'not ok - '*) not_ok "${line#not ok - }" ;;
		*) echo "# $line" ;;
		esac
	done < "$root/tap"
}

grep -qw btrfs /proc/filesystems && [ -e /dev/loop-control ] || skip_all 'no btrfs or no loop devices in this kernel'
[ ! -e /sys/fs/btrfs/features/device_role ] || skip_all 'this kernel has device roles'
begin_small units
trap 'umount -q "$work/cgroup"; rm -rf --one-file-system "$work"' EXIT
mkdir -p "$root/debs/new" && cp "$build"/deb/{btrfs-policy_*,libbtrfs-policy0_*}.deb "$root/debs/new/"
try 'the packages install' install_debs new || done_testing
try 'file systems with roles and without' images || done_testing
try 'a machine' prepare || done_testing
try 'systemd starts and ends' start
results
echo "# seconds in all: $SECONDS"
done_testing
