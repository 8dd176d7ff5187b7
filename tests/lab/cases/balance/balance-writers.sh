#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=600M,seed=1 --disk ssd:size=600M,seed=2
# lab: --disk hdd:size=2G,seed=3 --disk hdd:size=2G,seed=4
#
# Writers of data and metadata at work from before the balance to after it, on
# SSDs that are nearly full of data: no call of theirs fails.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"

# Small files, and large ones with fsync; what goes wrong stays in /tmp/errors.
writer() {
	local n=0 said

	while [ ! -e /tmp/stop ]; do
		n=$((n + 1))
		said=$(lab_small_files "$LAB_MNT/.w$1.$n" 30 1500 3000)
		[ "$said" = all ] || echo "writer $1, small files: $said" >>/tmp/errors
		dd if=/dev/urandom of="$LAB_MNT/.b$1" bs=64k count=16 conv=fsync status=none \
			2>>/tmp/errors
		rm -r "$LAB_MNT/.w$1.$n" 2>>/tmp/errors
		echo "$1" >>/tmp/rounds
		sleep 0.3
	done
}

try 'mkfs on the SSDs' lab_mkfs raid1 /dev/labda /dev/labdb || bail_out mkfs
try 'mount' lab_mount /dev/labda || bail_out mount
try 'data nearly fills the SSDs' lab_fill "$LAB_MNT/first" 400
try 'a history of files and snapshots' history 2
try 'the hard disks come' btrfs -q device add -f /dev/labdc /dev/labdd "$LAB_MNT"
sums >/tmp/before
: >/tmp/errors >/tmp/rounds
for i in 1 2 3; do
	writer $i &
done
sleep 1
try 'roles' roles '1 2' '3 4'
before=$(wc -l </tmp/rounds)
try 'balance --preferred-metadata' preferred
after=$(wc -l </tmp/rounds)
sleep 1
touch /tmp/stop
wait
in_range $((after - before)) 3 100000 'rounds of writers meanwhile'
is "$(cat /tmp/errors)" '' 'none of their calls failed'
try 'what came meanwhile is put right, too' preferred
is "$(verdict)" 0 'usage -c is content'
nothing_lost /dev/labda
done_testing
