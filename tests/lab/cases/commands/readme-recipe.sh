#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2G,seed=1 --disk hdd:size=2G,seed=2 --disk hdd:size=2G,seed=3 --disk ssd:size=128M,seed=4 --disk ssd:size=128M,seed=5
#
# The commands in README.md on an array whose SSDs are small: more files than the
# SSDs have metadata for can be created, and `usage -c` ends with 0.  With
# data-only disks `tag` warns, and `usage -c` adds 32 before files are refused.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
readme=$(dirname "$0")/../../../../README.md
disks=(/dev/labda /dev/labdb /dev/labdc)

commands() {
	sed -n 's/^    # \(btrfs [^#]*\).*/\1/p' "$readme" | sed "s|/mnt|$LAB_MNT|g"
}

# Until there is no space for the metadata of one more.
fill() {	# DIRECTORY COUNT
	lab_small_files "$LAB_MNT/$1" "$2" 1500
	sync
}

fresh() {
	lab_fresh && lab_mkfs raid1/raid1 "${disks[@]}" && lab_mount /dev/labda &&
		btrfs -q device add -K -f /dev/labdd /dev/labde "$LAB_MNT"
}

try 'three disks, two SSDs' fresh || bail_out fresh
is "$([ "$(commands | wc -l)" -ge 5 ] && echo yes)" yes 'README.md has commands'
while read -r command <&3; do
	said=$(eval "$command" 2>&1)
	is $? 0 "$command" || diag "$said"
	is "$(grep -c WARNING <<< "$said")" 0 "$command: no warning"
done 3< <(commands)
try 'metadata can grow to more than ten times its size' lab_metadata_has_space
is "$(fill d 60000)" all 'more files than the SSDs have metadata for'
btrfs device policy usage -c -T "$LAB_MNT" > /tmp/usage
is $? 0 'usage -c: no complaint' || diag "$(cat /tmp/usage)"
try unmount umount "$LAB_MNT"

try 'the same array again' fresh || bail_out fresh
said=$(btrfs device policy tag metadata-only nonrotational data-only rotational "$LAB_MNT" 2>&1)
is $? 0 'disks for data only'
is "$(grep -c 'WARNING: metadata can grow' <<< "$said")" 1 'tag warns'
try 'metadata moves' btrfs -q balance --preferred-metadata "$LAB_MNT"
# A few at a time, until usage -c complains or files are refused.
for ((n = 0; n < 100; n++)); do
	all=$(fill "d$n" 1000)
	btrfs device policy usage -c "$LAB_MNT" > /tmp/usage
	status=$?
	[ "$all" = all ] && [ $status = 0 ] || break
done
is "$all $status" 'all 32' 'usage -c says that metadata is nearly full while files can be created' || diag "$(cat /tmp/usage)"
is "$(fill e 200000)" 'No space left on device' 'then they are refused'
btrfs device policy usage -c "$LAB_MNT" > /tmp/usage
is $? 32 'and it says so still' || diag "$(cat /tmp/usage)"
diag "$(grep '^Metadata' /tmp/usage)"
try 'unmount again' umount "$LAB_MNT"
done_testing
