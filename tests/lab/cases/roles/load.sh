#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk ssd:size=1G,seed=2
# lab: --disk hdd:size=2G,seed=3 --disk hdd:size=2G,seed=4 --disk hdd:size=2G,seed=5
#
# Setters of roles and policies together with writers, balance, scrub, device
# add, remove and replace, remount, freeze, unmount: nothing hangs, nothing warns.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
info=$(lab_sysfs)/devinfo

# while_running COMMAND...: again and again, in the background, until /tmp/stop
while_running() {
	while [ ! -e /tmp/stop ]; do
		"$@" >/dev/null 2>&1
	done &
}

writer() {
	lab_small_files "$LAB_MNT/w$1" 20 3000
	dd if=/dev/urandom of="$LAB_MNT/b$1" bs=64k count=20 conv=fsync
	rm -rf "$LAB_MNT/w$1"
	sleep 0.1
}

balance() {
	btrfs balance start --force -musage=100 -dusage=100 "$LAB_MNT"
	sleep 0.1
}

scrub() {
	btrfs scrub start -B "$LAB_MNT"
	sleep 0.1
}

sysfs_setter() {
	local role devid

	for role in metadata-preferred data-preferred metadata-only; do
		for devid in 1 2 5; do
			{ echo $role > "$info/$devid/role"; } 2>/dev/null
		done
		sleep 0.1
	done
}

commands() {
	btrfs device policy tag metadata-only nonrotational "$LAB_MNT"
	btrfs device policy set roundrobin "$LAB_MNT"
	btrfs device policy usage "$LAB_MNT"
	btrfs device policy tag data-preferred 1 2 3 4 "$LAB_MNT"
	btrfs device policy set pid "$LAB_MNT"
	sleep 0.3
}

all_setters() {
	rm -f /tmp/stop
	while_running writer 1
	while_running writer 2
	while_running sysfs_setter
	while_running commands
}

end() {
	touch /tmp/stop
	wait
}

try mkfs lab_mkfs raid1 /dev/labda /dev/labdb /dev/labdc /dev/labdd || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
all_setters
while_running balance
while_running scrub
for n in 1 2; do
	sleep 1
	try "freeze $n" fsfreeze -f "$LAB_MNT"
	sleep 0.1
	try "thaw $n" fsfreeze -u "$LAB_MNT"
	mount -o remount,ro "$LAB_MNT" 2>/dev/null
	try "remount $n" mount -o remount,rw "$LAB_MNT"
done
end
try 'writable after balance' lab_writable

all_setters
while_running scrub
for n in 1 2; do
	try "add $n" btrfs device add -f -K /dev/labde "$LAB_MNT"
	sleep 0.2
	try "remove $n" btrfs device remove /dev/labde "$LAB_MNT"
done
end

# The kernel lets nobody replace and scrub at once.
all_setters
try replace btrfs replace start -f -K -B /dev/labdd /dev/labde "$LAB_MNT"
end
try 'writable after replace' lab_writable
try 'nothing is left in flight' lab_idle
try unmount umount "$LAB_MNT"

for n in 1 2 3; do
	try "mount $n" lab_mount /dev/labda
	rm -f /tmp/stop
	while_running sysfs_setter
	sleep 0.05
	try "unmount $n under a setter" umount "$LAB_MNT"
	end
done
try 'btrfs check' btrfs check /dev/labda
done_testing
