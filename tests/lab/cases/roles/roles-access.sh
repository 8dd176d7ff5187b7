#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk hdd:size=1G,seed=2 --disk hdd:size=1G,seed=3 --disk hdd:size=1G,seed=4
#
# Who may see and set roles: everyone may see them, by the ioctl as in sysfs, and
# CAP_SYS_ADMIN may set them. The ioctl and sysfs say the same to the same request.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
info=$(lab_sysfs)/devinfo
names=(data-preferred metadata-preferred data-only metadata-only)

roles() {
	"$(dirname "$LAB_LIB")/roles-ioctl" "$@"
}

# anyone COMMAND...: as another user without capabilities
anyone() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps -all --bounding-set -all "$@"
}

# root_without_admin COMMAND...: the owner of the files, but not an administrator
root_without_admin() {
	setpriv --inh-caps -sys_admin --bounding-set -sys_admin "$@"
}

ioctl_as() {
	"$@" "$(dirname "$LAB_LIB")/roles-ioctl" "${request[@]}"
}

# Into a file that is open already, as a service might hand it down.
sysfs_as() {
	"$@" perl -MErrno -e 'my $done = syswrite(STDOUT, $ARGV[0]);
		print(STDERR defined($done) ? "taken" : (sort grep { $!{$_} } keys(%!))[0])' "$role" \
		2>&1 >"$info/$devid/role"
}

# same WANT NAME DEVID ROLE: the error, or "taken", of both ways
same() {
	local want=$1 name=$2 by_ioctl by_sysfs

	by_ioctl=$(roles set "$3=$4" | cut -d' ' -f1)
	by_sysfs=$(printf '%s' "${names[$4]}" | lab_store "$info/$3/role")
	is "${by_ioctl/set/taken} $by_sysfs" "$want $want" "same: $name"
}

try mkfs lab_mkfs raid1 /dev/labda /dev/labdb /dev/labdc || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
chmod 755 "$LAB_MNT"

# --- who ---
want='3 1=0 2=0 3=0'
request=(get)
is "$(ioctl_as)" "$want" 'get: an administrator'
is "$(ioctl_as anyone)" "$want" 'get: anyone'
is "$(ioctl_as root_without_admin)" "$want" 'get: root without CAP_SYS_ADMIN'
is "$(anyone cat "$info/1/role")" "$(cat "$info/1/role")" 'get: anyone in sysfs'
request=(set 1=1) devid=1 role=metadata-preferred
is "$(ioctl_as anyone)" 'EPERM 0 0' 'set: not anyone'
is "$(ioctl_as root_without_admin)" 'EPERM 0 0' 'set: not root without CAP_SYS_ADMIN'
is "$(printf '%s' "$role" | anyone perl -MErrno -e 'open(my $f, ">", $ARGV[0]) or print((sort grep { $!{$_} } keys(%!))[0])' "$info/1/role")" \
	EACCES 'set: not anyone in sysfs'
is "$(sysfs_as anyone)" EPERM 'set: not anyone with an open file of sysfs'
is "$(sysfs_as root_without_admin)" EPERM 'set: not root without CAP_SYS_ADMIN in sysfs'
is "$(roles get)" "$want" 'set: nothing changed'
is "$(anyone btrfs device policy get role 1 "$LAB_MNT")" data-preferred 'get: anyone by the command'

# --- the same answer both ways ---
same taken 'a role' 1 1
same taken 'the role that it has' 1 1
same taken 'back' 1 0
same taken 'one device less for metadata' 1 2
same EINVAL 'two devices less' 2 2
same taken 'and back' 1 0
mount -o remount,ro "$LAB_MNT"
same EROFS 'read-only' 1 1
mount -o remount,rw "$LAB_MNT"
fallocate -l 300M "$LAB_MNT/f"
btrfs replace start -f -K 3 /dev/labdd "$LAB_MNT"
if [ -e "$info/0/role" ]; then
	is "$(printf %s data-only | lab_store "$info/0/role")" "$(roles set 0=2 | cut -d' ' -f1)" 'same: the target of a replace'
	same taken 'the source of a replace' 3 1
	same taken 'the source, back' 3 0
else
	not_ok 'the replace is under way'
fi
try 'the replace ends' eval 'until btrfs replace status -1 "$LAB_MNT" | grep -q finished; do sleep 1; done'

# A device that is missing.
umount "$LAB_MNT"
lab_pull /dev/labdd
btrfs device scan --forget
btrfs device scan >/dev/null
try 'mount degraded' lab_mount /dev/labda degraded
same taken 'a missing device' 3 1
same taken 'a missing device, back' 3 0
try unmount umount "$LAB_MNT"

try 'mixed: begin afresh' lab_fresh
try 'mixed: mkfs' mkfs.btrfs -q -f -K -U "$LAB_UUID" --mixed -d single -m single /dev/labda /dev/labdb
try 'mixed: mount' lab_mount /dev/labda
same EINVAL 'mixed block groups' 1 1
same taken 'mixed block groups, the default' 1 0
try 'mixed: unmount' umount "$LAB_MNT"
done_testing
