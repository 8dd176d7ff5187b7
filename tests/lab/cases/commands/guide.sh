#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3 --disk nvme:size=1G,seed=4 --disk nvme:size=1G,seed=5
#
# The guide Documentation/guide/ssd-metadata.md, and the examples of btrfs-device-policy(8):
# each of their commands, in their order, does what the page says it does.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
pages=$(dirname "$0")/../../../../Documentation

# Commands of a page, for the devices that there are here.
commands() {	# PAGE
	sed -n -e '/^```console$/,/^```$/s/^# //p' -e '/^EXAMPLES$/,/^SEE ALSO$/s/^    # //p' "$pages/$1" |
		sed -e "s|/mnt|$LAB_MNT|g" -e 's|/dev/nvme0n1|/dev/labdd|g' -e 's|/dev/nvme1n1|/dev/labde|g'
}

# Is every metadata chunk on devices 4 and 5 alone?
on_ssds() {
	[ "$(lab_devids /dev/labda METADATA)" = '4 5' ]
}

on_disks() {
	[[ $(lab_devids /dev/labda METADATA) =~ ^[123](' '[123])*$ ]]
}

# The bars of the page are those of this array, one for each of the five devices.
bars_are_shown() {
	local bar shown=0

	while IFS= read -r bar; do
		grep -qFx -- "$bar" "$pages/guide/ssd-metadata.md" || { diag "$bar"; return 1; }
		shown=$((shown + 1))
	done < <(btrfs device policy usage "$LAB_MNT" | grep '^ *[0-9]* \[.*\]$')
	[ $shown = 5 ]
}

# What has to be true behind some of them.
after() {
	case $1 in
	'btrfs device policy add'*)
		is "$(btrfs device policy get role "$LAB_MNT" | awk 'NR > 2 { print $3 }' | xargs)" \
			'data-preferred data-preferred data-preferred metadata-only metadata-only' 'added with their role' ;;
	'btrfs device policy tag metadata-only'*)
		is "$(btrfs device policy get role 4 "$LAB_MNT")" metadata-only 'the SSDs have their role'
		[ "$page" = man/btrfs-device-policy.rst ] || try 'the guide shows these bars' bars_are_shown ;;
	'btrfs device policy tag data-only'*) back=yes ;;
	'btrfs balance --preferred'*)
		if [ "$back" ]; then
			try 'metadata is on the disks alone' on_disks
		else
			try 'metadata is on the SSDs alone' on_ssds
			[ "$page" = man/btrfs-device-policy.rst ] || try 'the guide shows these bars' bars_are_shown
		fi ;;
	*'usage -T -c'*) try 'metadata can grow to more than ten times its size' lab_metadata_has_space ;;
	*'policy restore'*)
		is "$(btrfs device policy get readahead "$LAB_MNT")" 16777216 'restored' ;;
	*'get read-policy'*) is "$said" roundrobin 'get says roundrobin' ;;
	'rm '*) is "$(ls /etc/btrfs-policy.d)" '' 'nothing is saved any more' ;;
	esac
}

try mkfs lab_mkfs raid1/raid1 /dev/labda /dev/labdb /dev/labdc || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_small_files "$LAB_MNT/files" 400 1500 >/dev/null
lab_fill "$LAB_MNT/data" 64
sum=$(lab_sum "$LAB_MNT/data")
sync
follow() {	# PAGE COMMANDS-AT-LEAST
	local page=$1 command said status dry back=

	is "$([ "$(commands "$1" | wc -l)" -ge "$2" ] && echo yes)" yes "$1 has commands"
	while read -r command <&3; do
		dry=$(case $command in *--dry-run*) btrfs device policy get role "$LAB_MNT" ;; esac)
		said=$(eval "$command" 2>&1)
		status=$?
		is $status 0 "$command" || diag "$said"
		[ -z "$dry" ] || is "$(btrfs device policy get role "$LAB_MNT")" "$dry" 'and changes nothing'
		after "$command"
	done 3< <(commands "$1")
}

follow guide/ssd-metadata.md 15
is "$(btrfs device policy get read-policy "$LAB_MNT") $(btrfs device policy get readahead "$LAB_MNT")" \
	'pid 4194304' 'undone: read policy and readahead'
is "$(btrfs device policy get role "$LAB_MNT" | awk 'NR > 2 { print $1, $3 }' | xargs)" \
	'1 data-preferred 2 data-preferred 3 data-preferred' 'undone: roles, and the SSDs are gone'
try 'the SSDs once more' btrfs device add -f /dev/labdd /dev/labde "$LAB_MNT"
follow man/btrfs-device-policy.rst 12
is "$(btrfs device policy get role "$LAB_MNT" | awk 'NR > 2 { print $3 }' | xargs)" \
	'data-preferred data-preferred data-preferred data-preferred data-preferred' 'undone: roles'
lab_drop_caches
is "$(lab_sum "$LAB_MNT/data")" "$sum" 'and the data is what it was'
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda
done_testing
