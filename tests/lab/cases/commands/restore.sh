#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3
#
# Settings that are saved come back at the next mount, by the very command of the
# systemd unit, and whatever is wrong with their file never hurts the mount.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
conf=/etc/btrfs-policy.d/$LAB_UUID.conf
root=$(dirname "$(command -v btrfs-policy)")/../..
policy="btrfs device policy"

# What the unit runs for the mount that is there, as the udev rule starts it.
unit() {
	local bdi run

	bdi=$(basename "$(readlink -f "$(lab_sysfs)/bdi")")
	grep -q "KERNEL==\"${bdi%%-*}-\*\".*btrfs-policy-restore@%k.service" \
		"$root"/usr/lib/udev/rules.d/99-btrfs-policy.rules || return 99
	run=$(sed -n "s|^ExecStart=/usr/bin/||p; " \
		"$root/usr/lib/systemd/system/btrfs-policy-restore@.service")
	${run//%i/$bdi} 2>&1
}

now() {
	echo "$($policy get read-policy "$LAB_MNT") $($policy get readahead "$LAB_MNT")"
}

again() {
	umount "$LAB_MNT" && lab_mount /dev/labda "${1:-}"
}

try mkfs lab_mkfs raid1/raid1 $(lab_disks) || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
before=$(now)
is "$(unit)" '' 'nothing is saved, nothing is done'
is "$(now)" "$before" 'nor changed'
try 'set --save' $policy set roundrobin --readahead 8M --save "$LAB_MNT"
try 'tag --save' $policy tag metadata-preferred 1 --save "$LAB_MNT"
is "$(stat -c '%a %U' "$conf") $(ls -A "${conf%/*}")" "644 root ${conf##*/}" 'one file, for all to read'
try 'mount again' again
is "$(now)" "$before" 'a mount starts with the defaults'
is "$($policy get role 1 "$LAB_MNT")" metadata-preferred 'the role is on disk'
is "$(unit)" 'read policy: pid -> roundrobin
readahead: 4.00MiB -> 8.00MiB' 'the unit restores'
is "$(now)" 'roundrobin 8388608' 'and the kernel has it'
is "$(unit)" 'read policy: roundrobin, unchanged
readahead: 8.00MiB, unchanged' 'once more changes nothing'

printf '# mine\n\nrot-penalty=7\n' >>"$conf"
chmod 600 "$conf"
try 'save over an edited file' $policy set roundrobin --readahead 16M --save "$LAB_MNT"
is "$(grep -c '^# mine$\|^rot-penalty=7$\|^readahead = 16777216$' "$conf") $(stat -c %a "$conf")" '3 600' \
	'comments, other lines and the mode stay'
mv "$conf" /tmp/kept && ln -s /tmp/kept "$conf"
try 'save over a link' $policy set roundrobin --readahead 8M --save "$LAB_MNT"
is "$(readlink "$conf") $(grep -c '^# mine$\|^readahead = 8388608$' /tmp/kept)" '/tmp/kept 2' 'the link stays, its file is written'
rm /tmp/kept
is "$($policy set pid --save "$LAB_MNT" 2>/tmp/said; echo $?) $(now)" '1 roundrobin 8388608' 'a link to nowhere: refused, nothing changes'
rm "$conf"
try 'save again' $policy set roundrobin --readahead 16M --rot-penalty 7 --save "$LAB_MNT"
try 'mount again' again
mkdir -p /tmp/second
try 'mounted twice' mount --bind "$LAB_MNT" /tmp/second
is "$($policy restore --all)" 'read policy: pid -> roundrobin
rotational penalty: 1 -> 7
readahead: 4.00MiB -> 16.00MiB' 'restored once for two mounts'
umount /tmp/second
is "$(btrfs --format json device policy show "$LAB_MNT" | grep -c '"saved-in-force": true')" 1 'show says so'

for damage in 'read-policy = fastest' 'nonsense' 'rot-penalty = 1001' "$(head -c 70000 /dev/zero | tr '\0' x)"; do
	echo "$damage" >"$conf"
	try 'mount with a damaged file' again
	is "$(unit >/tmp/said; echo $?) $(grep -c "$conf" /tmp/said) $(now)" "1 1 $before" \
		"'${damage:0:30}' is refused by name, nothing changes"
	try 'and the mount works' touch "$LAB_MNT/file"
done
rm "$conf"
mkdir "$conf"
is "$(unit >/tmp/said; echo $?) $(now)" "1 $before" 'a directory in its place'
rmdir "$conf"

try 'save all' $policy save --all
umount "$LAB_MNT"
lab_pull /dev/labdc
btrfs device scan --forget && btrfs device scan /dev/labda /dev/labdb >/dev/null
try 'mount with a device missing' lab_mount /dev/labda degraded
$policy set pid --readahead 1M "$LAB_MNT" >/dev/null
is "$(unit | grep -c -- '->')" 1 'restored with a device missing'
is "$(now)" "$before" 'to what was saved'
bdi=$(basename "$(readlink -f "$(lab_sysfs)/bdi")")
umount "$LAB_MNT"
is "$(btrfs-policy restore --bdi "$bdi" 2>&1; echo $?)" 0 'the mount is over: nothing to do'

# Early enough to be waited for: the unit may run before the mount is through.
lab_mount /dev/labda degraded
umount "$LAB_MNT"
( for try in $(seq 600); do
	for late in /sys/class/bdi/btrfs-*; do
		[ -e "$late" ] && exec btrfs-policy restore --bdi "${late##*/}"
	done
	sleep 0.01
done ) >/tmp/late 2>&1 &
echo 'readahead = 2M' >"$conf"
sleep 0.1
try 'mount while the unit waits for it' lab_mount /dev/labda degraded
wait
is "$(cat /tmp/late; now)" "readahead: 4.00MiB -> 2.00MiB
pid 2097152" 'restored as soon as it is there'
roles=$($policy get role "$LAB_MNT" | awk 'NR > 2 { print $1, $3 }')
try unmount umount "$LAB_MNT"
is "$($policy show -T --offline /dev/labda /dev/labdb | awk '$1 ~ /^[123]$/ { print $1, $4 }')" "$roles" \
	'roles are read from disk too, without a mount'
done_testing
