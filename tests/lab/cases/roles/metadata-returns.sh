#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=4G,seed=1 --disk ssd:size=512M,seed=2
#
# An SSD was full once and metadata went on to a hard disk. When it has space
# again, inside of its block groups, what is written goes there and not on to
# the hard disk's.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

# used DEVID: bytes in use of the metadata chunks there
used() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	{
		btrfs inspect-internal dump-tree -t chunk /dev/labda
		btrfs inspect-internal dump-tree -t extent /dev/labda
		btrfs inspect-internal dump-tree -t block-group /dev/labda
	} 2>/dev/null | awk -v devid="$1" '
		$1 == "item" { start = ($5 == "CHUNK_ITEM" ? $6 : substr($4, 2)) + 0 }
		$1 == "stripe" && $3 == "devid" && $4 == devid { here[start] = 1 }
		$1 == "block" && $2 == "group" && / METADATA/ && start in here { sum += $4 }
		END { print sum + 0 }'
}

try mkfs lab_mkfs single /dev/labda /dev/labdb || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
try 'the SSD prefers metadata' btrfs -q device policy tag metadata-only nonrotational "$LAB_MNT"
try 'the hard disk prefers data' btrfs -q device policy tag data-preferred rotational "$LAB_MNT"
try 'metadata goes to the SSD' btrfs -q balance --preferred-metadata "$LAB_MNT"
is "$(lab_devids /dev/labda METADATA)" 2 'all of it'

spilled=$(lab_sysfs)/allocation/metadata/spilled_chunks
for n in $(seq 20); do
	is "$(lab_small_files "$LAB_MNT/d$n" 2000 1500 12000)" all "folder $n"
	sync
	[ "$(cat "$spilled")" = 0 ] || break
done
in_range "$(cat "$spilled")" 1 2 'the SSD is full'
is "$(lab_small_files "$LAB_MNT/more" 2000 1500 12000)" all 'metadata on the hard disk'
in_range "$(used 1)" $((20 << 20)) $((1 << 30)) 'bytes of metadata on the hard disk'

# Half of the files: space inside the chunks of both, and none for a new one.
find "$LAB_MNT" -name '*[13579]' -type f -delete
try 'commit, so that the space can be used' sync
before=$(used 1) spills=$(cat "$spilled")
in_range "$before" $((8 << 20)) $((1 << 30)) 'half of it is still there'
find "$LAB_MNT/more" -type f -exec touch {} +
sync
in_range "$(used 1)" 0 "$before" 'the next blocks written go to the SSD'
for folder in "$LAB_MNT"/*/; do
	find "$folder" -type f -exec touch {} +
	sync
done
after=$(used 1)
diag "metadata on the hard disk: $before bytes, $after when all has been written anew"
in_range "$after" 0 $((before / 4)) 'in the end nearly all is there'
in_range "$(used 2)" $((100 << 20)) $((512 << 20)) 'bytes of metadata on the SSD'
is "$(cat "$spilled")" "$spills" 'no other chunk was needed'
try 'scrub' lab_scrub
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check /dev/labda
done_testing
