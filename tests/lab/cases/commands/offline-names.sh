#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk ssd:size=512M,seed=1 --disk hdd:size=1G,seed=2 --disk hdd:size=1G,seed=3 --disk hdd:size=512M,seed=4
#
# --offline finds a file system by UUID and by label, and the other devices of it
# by itself; what belongs to another file system stays out, and a label that two have
# means neither.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
policy="btrfs device policy"
label='old pool'
all=(/dev/labda /dev/labdb /dev/labdc)

# What is shown of the file system, from its first line on, or the error.
shown() {
	$policy show -T --offline "$@" 2>&1
}

plan() {
	btrfs --dry-run balance --preferred-metadata --offline "$@" 2>&1
}

# A device that says of itself that it is another one, or nothing.
forget_device() {	# DEVICE: all copies of its superblock
	local at
	for at in 64 $((64 * 1024)); do
		dd if=/dev/zero of="$1" bs=1K seek=$at count=4 conv=notrunc status=none
	done
	rm -f /run/blkid/blkid.tab*
}

try mkfs lab_mkfs raid1/raid1 "${all[@]}" || bail_out mkfs
try 'another one' mkfs.btrfs -q -f -K -L other /dev/labdd
try label btrfs filesystem label /dev/labda "$label"
try mount lab_mount /dev/labda || bail_out mount
lab_small_files "$LAB_MNT/files" 100 1500 >/dev/null
try roles $policy tag metadata-only 1 "$LAB_MNT" --force
try unmount umount "$LAB_MNT"
rm -f /run/blkid/blkid.tab*

want=$(shown "${all[@]}")
is "$(head -n1 <<<"$want")" "Label: '$label'  uuid: $LAB_UUID" 'it is what was made'
is "$(grep -c '^ [123] /dev/labd[abc] ' <<<"$want")" 3 'with three devices'
for name in "$LAB_UUID" "UUID=$LAB_UUID" "$label" "LABEL=$label" /dev/labda /dev/labdb /dev/labdc; do
	is "$(shown "$name")" "$want" "all of it by '$name'"
done
is "$(shown /dev/labdc /dev/labda)" "$want" 'and by two of three devices'
is "$($policy usage -T --offline "$LAB_UUID")" "$($policy usage -T --offline "${all[@]}")" 'usage, too'
is "$(plan "$label")" "$(plan "${all[@]}")" 'and the plan of a balance'
is "$(shown other | sed -n 's/^ *[0-9] \([^ ]*\) .*/\1/p')" /dev/labdd 'the other one is its own'
is "$(shown "$label" other)" \
	"ERROR: cannot read '/dev/labdd': it belongs to another file system than the first one" 'two do not mix'
is "$(shown "LABEL=nobody"; shown 11111111-2222-3333-4444-555555555555)" \
	"ERROR: cannot read 'LABEL=nobody': No such file or directory
ERROR: cannot read '11111111-2222-3333-4444-555555555555': No such file or directory" 'names of nothing'

try 'the other one gets a label with a slash' btrfs filesystem label /dev/labdd srv/data
rm -f /run/blkid/blkid.tab*
is "$(shown LABEL=srv/data | sed -n 's/^ *[0-9] \([^ ]*\) .*/\1/p')" /dev/labdd 'which is found with its tag'

try 'the other one gets the same label' btrfs filesystem label /dev/labdd "$label"
rm -f /run/blkid/blkid.tab*
other=$(blkid -o value -s UUID /dev/labdd)
for name in "$label" "LABEL=$label"; do
	is "$(shown "$name" | sed "s/$LAB_UUID/FIRST/; s/$other/OTHER/; s/labd[abc])/labdX)/" |
		sed 's/OTHER (.dev.labdd), FIRST (.dev.labdX)/FIRST (\/dev\/labdX), OTHER (\/dev\/labdd)/')" \
		"ERROR: cannot read '$name': 2 file systems have this label: FIRST (/dev/labdX), OTHER (/dev/labdd); name one by its UUID" \
		"'$name' means two"
done
is "$(shown "$LAB_UUID")" "$want" 'and the UUID one of them'

try 'one device is lost' forget_device /dev/labdc
is "$(shown "$LAB_UUID" | sed -n '/missing:/p; /^ 3/p' | xargs)" \
	"Devices missing: 1 3 - missing data-preferred 1.00GiB $(awk '$1 == 3 { print $6 }' <<<"$want")" \
	'it is shown as missing, the rest as it was'
done_testing
