#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk ssd:size=1G,seed=2
#
# The files of the read policy in sysfs, the mount option and the module
# parameter: what they take, what they refuse, and that a refusal changes nothing.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
top=$(lab_sysfs)/read_policy
dir=$(lab_sysfs)/read_policies
parameter=/sys/module/btrfs/parameters/read_policy

# takes FILE VALUE SHOWN, the value with escapes
takes() {
	is "$(printf '%b' "$2" | lab_store "$1") $(cat "$1")" "taken $3" "${1##*/} takes '$2'"
}

# refuses FILE NAME: what is on stdin
refuses() {
	local before

	before=$(cat "$1")
	is "$(lab_store "$1") $(cat "$1")" "EINVAL $before" "${1##*/} refuses $2"
}

# refuses_all FILE VALUE...: with escapes, and what no such file can take
refuses_all() {
	local file=$1 value

	shift
	for value in "$@"; do
		refuses "$file" "'$value'" < <(printf '%b' "$value")
	done
	refuses "$file" '4096 zeros' < <(head -c 4096 /dev/zero)
	refuses "$file" '4096 digits' < <(head -c 4096 /dev/zero | tr '\0' 1)
	refuses "$file" 'random bytes' < <(head -c 3000 /dev/urandom)
	is "$(lab_store "$file" </dev/null)" taken "${file##*/}: an empty write is none"
}

shown_in_mounts() {
	sed -n "s|.* $LAB_MNT btrfs .*read_policy=\([^, ]*\).*|\1|p" /proc/mounts
}

# option OPTIONS WANTED IN_MOUNTS: of a new mount
option() {
	lab_mount /dev/labda "$1" || not_ok "mount with '$1'"
	is "$(cat "$top") $(shown_in_mounts)" "$2 $3" "mounted with '$1'"
	umount "$LAB_MNT"
}

try 'the feature file' test -e /sys/fs/btrfs/features/read_policy_roundrobin
try mkfs lab_mkfs raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
# What the kernel itself has between the two, as ` round-robin:262144 devid:1`; in 6.12 nothing.
between=$(sed -n 's/^\[pid\]\(\( [a-z-]*:[0-9]*\)*\) roundrobin$/\1/p' "$top")
on_pid="[pid]$between roundrobin" on_rr="pid$between [roundrobin]"
is "$(grep -H . "$top" "$dir"/* | sed 's/.*\///')" "read_policy:$on_pid
policy:$on_pid
roundrobin_nonlocal_inc_mixed_only:1
roundrobin_nonrot_nonlocal_inc:0
roundrobin_rot_nonlocal_inc:1" 'names and defaults'
for f in "$top" "$dir/policy"; do
	takes "$f" 'roundrobin\n' "$on_rr"
	takes "$f" pid "$on_pid"
	takes "$f" roundrobin "$on_rr"
	is "$(cat "$top")" "$(cat "$dir/policy")" 'both files say the same'
	refuses_all "$f" '\n' PID 'pid ' ' pid' 'pid\n\n' 'pid\0x' roundrobi roundrobinx '[pid]' 0 '\001\0377\0200'
done
for f in rot nonrot; do
	f=$dir/roundrobin_${f}_nonlocal_inc
	for v in 0 17 1000; do
		takes "$f" "$v\n" $v
	done
	takes "$f" 1 1
	refuses_all "$f" '\n' ' ' -1 1001 4294967295 4294967297 18446744073709551616 \
		1junk '1 1' '1\0' 1.5 yes '\0377'
done
f=$dir/roundrobin_nonlocal_inc_mixed_only
# As anything that is on or off in sysfs.
for v in y n on off 'Y\n' 'N\n' '1\n' '0\n'; do
	[[ $v = [yY1]* || $v = on ]] && shown=1 || shown=0
	takes "$f" "$v" $shown
done
takes "$f" 1 1
refuses_all "$f" '\n' ' ' -1 2 4294967297 oo '1\0' '\0377'
is "$(dmesg --level emerg,alert,crit,err)" '' 'junk is no error of the file system'

mount -o remount,read_policy=pid "$LAB_MNT"
is "$(cat "$top")" "$on_pid" 'remount changes it'
mount -o remount,read_policy=roundrobin "$LAB_MNT"
is "$(cat "$top") $(shown_in_mounts)" "$on_rr roundrobin" 'and back'
refuse 'remount with junk' mount -o remount,read_policy=junk "$LAB_MNT"
mount -i -o remount,noatime "$LAB_MNT"
is "$(cat "$top")" "$on_rr" 'another remount keeps it'
umount "$LAB_MNT"
refuse 'mount with junk' lab_mount /dev/labda read_policy=junk
option '' "$on_pid" ''
option read_policy=roundrobin "$on_rr" roundrobin

is "$(cat $parameter)" pid 'the module parameter'
is "$(printf junk | lab_store $parameter) $(cat $parameter)" 'EINVAL pid' 'it refuses junk'
is "$(echo roundrobin | lab_store $parameter) $(cat $parameter)" 'taken roundrobin' 'it takes a name'
option '' "$on_rr" ''
option read_policy=pid "$on_pid" pid

echo pid >$parameter
lab_wipe $(lab_disks)
try 'mkfs, data on both' lab_mkfs raid0/raid1 $(lab_disks)
btrfs device scan --forget
try 'mount degraded' lab_mount /dev/labda ro,degraded
refuse 'remount writeable without one of them' mount -o remount,rw,degraded,read_policy=roundrobin "$LAB_MNT"
is "$(cat "$top")" "$on_pid" 'a remount that fails keeps the policy'
is "$(dmesg | grep -o "read policy set to .*" | tail -n 2 | xargs)" 'read policy set to roundrobin read policy set to pid' \
	'it was set before'
umount "$LAB_MNT"
btrfs device scan >/dev/null
try 'btrfs check' btrfs check /dev/labda

# A program may go on after an option that was refused: 430 is fsopen(), 431 fsconfig(),
# 432 fsmount(), the mount lives as long as it does.
perl -e 'my ($type, $source, $device, $option, $value) = ("btrfs", "source", "/dev/labda", "read_policy", "roundrobin:5");
	my $fs = syscall(430, $type, 0);
	syscall(431, $fs, 1, $source, $device, 0);
	print syscall(431, $fs, 1, $option, $value, 0) < 0 ? "refused " : "taken ";
	syscall(431, $fs, 6, 0, 0, 0) == 0 && syscall(432, $fs, 0, 0) >= 0 or die;
	open(my $now, "<", glob("/sys/fs/btrfs/*-*-*-*/read_policy")); print <$now>;' >/tmp/said 2>&1
is "$(cat /tmp/said)" "refused $on_pid" 'a policy that was refused is not set by the mount that follows'

# What is known of a seed device when the policy is set again is as old as the rest.
speed() {
	sed -n 's/^\(seek\|unit\)_ns //p' "$sprout/devinfo/1/read_stats" | xargs
}

lab_wipe $(lab_disks)
try 'mkfs' lab_mkfs single /dev/labda
try 'mount' lab_mount /dev/labda
lab_fill "$LAB_MNT/a" 16
umount "$LAB_MNT"
try 'make it a seed' btrfstune -f -S 1 /dev/labda
try 'mount the seed' lab_mount /dev/labda
try 'add a device' btrfs device add -f /dev/labdb "$LAB_MNT"
try 'remount' mount -o remount,rw,read_policy=roundrobin "$LAB_MNT"
sprout=$(echo /sys/fs/btrfs/*-*-*-*)
before=$(speed)
lab_drop_caches
try 'read from the seed' cat "$LAB_MNT/a"
is "$(speed | grep -cx "$before")" 0 "the seed is not as fast as was assumed ($before)"
echo pid >"$sprout/read_policy"
echo roundrobin >"$sprout/read_policy"
is "$(speed)" "$before" 'and that is forgotten'
done_testing
