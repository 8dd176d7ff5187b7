#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1 --disk hdd:size=1G,seed=2
#
# The commands with words, places and rights they cannot use: an error that
# names what is wrong, nothing on stdout, the status of the design, nothing
# changed, and no word from the kernel.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
mkdir -p /tmp/plain

state() {
	cat "$(lab_sysfs)"/devinfo/*/role "$(lab_sysfs)"/read_policies/* "$(lab_sysfs)/bdi/read_ahead_kb"
}

# refused NAME STATUS WORD COMMAND...: WORD is what the error has to name
refused() {
	local name=$1 want=$2 word=$3 before out status

	shift 3
	before=$(state)
	out=$("$@" 2>/tmp/err </dev/null)
	status=$?
	if [ "$status" = "$want" ] && [ -z "$out" ] && grep -qE '^(ERROR|btrfs[a-z -]*): ' /tmp/err &&
		grep -qiF -- "$word" /tmp/err && [ "$(state)" = "$before" ]; then
		ok "$name"
	else
		not_ok "$name"
		diag "$*: status $status, not $want; wanted word: $word; stdout: $out; stderr: $(head -c 1000 /tmp/err)"
		diag "$(diff <(echo "$before") <(state))"
	fi
}

nobody() {
	setpriv --reuid 65534 --clear-groups "$@"
}

policy() {
	btrfs device policy "$@"
}

try mkfs lab_mkfs raid1 /dev/labda /dev/labdb || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'something to lose' policy set roundrobin --rot-penalty 3 "$LAB_MNT"
try 'and a role' policy tag metadata-preferred 1 "$LAB_MNT"
dmesg -C

# Words.
refused 'unknown policy' 1 roundrobbin policy set roundrobbin "$LAB_MNT"
refused 'empty policy' 1 policy policy set '' "$LAB_MNT"
refused 'policy with a newline' 1 policy policy set $'pid\n' "$LAB_MNT"
refused 'policy of 5000 letters' 1 aaa policy set "$(printf %5000s | tr ' ' a)" "$LAB_MNT"
refused 'unknown role' 1 metadata-olny policy tag metadata-olny 1 "$LAB_MNT"
refused 'unknown role by number' 1 3 policy tag 3 1 "$LAB_MNT"
refused 'unknown setting' 1 colour policy get colour "$LAB_MNT"
for n in -1 1001 x 1.5 '' 18446744073709551616 4294967297; do
	refused "penalty '$n'" 1 penalty policy set roundrobin --rot-penalty="$n" "$LAB_MNT"
	refused "penalty '$n' after a good one" 1 penalty \
		policy set pid --rot-penalty 5 --nonrot-penalty="$n" "$LAB_MNT"
done
refused 'neither yes nor no' 1 maybe policy set roundrobin --penalty-mixed-only maybe "$LAB_MNT"
refused 'readahead' 1 12Q policy set roundrobin --readahead 12Q "$LAB_MNT"
refused 'unknown option' 1 bogus policy set --bogus roundrobin "$LAB_MNT"
refused 'no policy' 1 argument policy set
refused 'no device' 1 argument policy tag data-only

# Devices.
refused 'unknown devid' 1 9 policy tag data-preferred 9 "$LAB_MNT"
refused 'a good devid and an unknown one' 1 9 policy tag metadata-only 1 9 "$LAB_MNT"
refused 'devid 0' 1 0 policy tag data-preferred 0 "$LAB_MNT"
refused 'devid 2^64' 1 18446744073709551616 policy tag data-preferred 18446744073709551616 "$LAB_MNT"
refused 'unknown path' 1 /dev/labdz policy tag data-preferred /dev/labdz "$LAB_MNT"
refused 'a device of no file system' 1 /dev/null policy tag data-preferred /dev/null "$LAB_MNT"
refused 'role of an unknown devid' 1 9 policy get role 9 "$LAB_MNT"
refused 'too few devices left' 1 metadata policy tag data-only 2 "$LAB_MNT"

# Places.
for command in 'show' 'usage' 'list' 'get role' 'get read-policy' 'set pid' 'tag data-preferred 1'; do
	# shellcheck disable=SC2086 # the words of a command
	refused "$command: no such path" 1 /no/such/path policy $command /no/such/path
	# shellcheck disable=SC2086
	refused "$command: not btrfs" 1 /tmp/plain policy $command /tmp/plain
done
refused 'balance: no such path' 1 /no/such/path btrfs balance --preferred-metadata /no/such/path
refused 'balance: not btrfs' 1 /tmp/plain btrfs balance --preferred-metadata /tmp/plain
refused 'unknown format' 1 yaml btrfs --format yaml device policy show "$LAB_MNT"

# Rights.
refused 'set by another user' 1 permi nobody btrfs device policy set pid "$LAB_MNT"
refused 'tag by another user' 1 permi nobody btrfs device policy tag data-preferred 1 "$LAB_MNT"
refused 'usage by another user' 1 permi nobody btrfs device policy usage "$LAB_MNT"
refused 'balance by another user' 1 permi nobody btrfs balance --preferred-metadata "$LAB_MNT"
mount -o remount,ro "$LAB_MNT"
refused 'tag on a read-only mount' 2 read-only policy tag data-preferred 1 "$LAB_MNT"
try 'show on a read-only mount' policy show "$LAB_MNT"
mount -o remount,rw "$LAB_MNT"

is "$(dmesg --level emerg,alert,crit,err)" '' 'no error in the log of the kernel'
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
