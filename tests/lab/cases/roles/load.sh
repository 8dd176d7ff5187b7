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

# while_running COMMAND...: again and again, in the background, until /tmp/stop. What succeeds is in /tmp/done.
while_running() {
	running+=("$*")
	while [ ! -e /tmp/stop ]; do
		if "$@" >/dev/null 2>&1; then
			echo "$*" >>/tmp/done
		fi
		sleep 0.1
	done &
}

writer() {
	[ "$(lab_small_files "$LAB_MNT/w$1" 20 3000)" = all ] &&
		dd if=/dev/urandom of="$LAB_MNT/b$1" bs=64k count=20 conv=fsync && rm -rf "$LAB_MNT/w$1"
}

balance() {
	btrfs balance start --force -musage=100 -dusage=100 "$LAB_MNT"
}

scrub() {
	btrfs scrub start -B "$LAB_MNT"
}

# Each of these roles for each of these devices; it succeeds if the kernel has taken one.
sysfs_setter() {
	local role devid status=1

	for role in metadata-preferred data-preferred metadata-only; do
		for devid in 1 2 5; do
			if { echo $role > "$info/$devid/role"; } 2>/dev/null; then
				status=0
			fi
		done
		sleep 0.1
	done
	return $status
}

commands() {
	btrfs device policy tag metadata-only nonrotational "$LAB_MNT" &&
		btrfs device policy set roundrobin "$LAB_MNT" && btrfs device policy usage "$LAB_MNT" &&
		btrfs device policy tag data-preferred 1 2 3 4 "$LAB_MNT" && btrfs device policy set pid "$LAB_MNT"
}

# Starts afresh.
begin() {
	running=()
	rm -f /tmp/stop
	: >/tmp/done
}

all_setters() {
	begin
	while_running writer 1
	while_running writer 2
	while_running sysfs_setter
	while_running commands
}

# end NAME: each of those in the background has succeeded at least once
end() {
	local what

	touch /tmp/stop
	wait
	for what in "${running[@]}"; do
		in_range "$(grep -cx "$what" /tmp/done)" 1 1e6 "$1: $what"
	done
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
end 'beside balance and scrub'
try 'writable after balance' lab_writable

all_setters
while_running scrub
for n in 1 2; do
	try "add $n" btrfs device add -f -K /dev/labde "$LAB_MNT"
	sleep 0.2
	try "remove $n" btrfs device remove /dev/labde "$LAB_MNT"
done
end 'beside add and remove'

# The kernel lets nobody replace and scrub at once.
all_setters
try replace btrfs replace start -f -K -B /dev/labdd /dev/labde "$LAB_MNT"
end 'beside replace'
try 'writable after replace' lab_writable
try 'nothing is left in flight' lab_idle
try unmount umount "$LAB_MNT"

for n in 1 2 3; do
	try "mount $n" lab_mount /dev/labda
	begin
	while_running sysfs_setter
	sleep 0.05
	try "unmount $n under a setter" umount "$LAB_MNT"
	end "beside unmount $n"
done
try 'btrfs check' btrfs check /dev/labda
done_testing
