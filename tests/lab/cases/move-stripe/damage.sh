#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 2G --disk ssd:size=300M,seed=1
# machines: raid1 single raid5
#
# Bad blocks on the source: those with another copy or parity are repaired on the target and counted, one without ends
# the move with its address. The disks are null_blk's, in memory.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"
nullb=/sys/kernel/config/nullb

# overwrite DEVID OFFSET BYTES
overwrite() {
	yes damage | dd of="/dev/disk$1" bs="$3" count=1 oflag=seek_bytes seek="$2" conv=notrunc iflag=fullblock status=none
}

# bad_block DEVID +|- OFFSET: it cannot be read, or again
bad_block() {
	echo "$2$(($3 / 512))-$(($3 / 512 + 7))" >"$nullb/disk$1/badblocks"
}

# first KIND [ADDRESS]: "CHUNK STRIPE DEVID OFFSET" of the first stripe of its first chunk, or of the one with the address
first() {
	stripes /dev/disk1 "$1" | awk -v address="${2:-0}" '$2 == 0 && (out == "" || $1 <= address) {
		out = $1 " " $2 " " $3 " " $4 } END { print out }'
}

# stat DEVID NAME
stat_of() {
	btrfs device stats "/dev/disk$1" | awk -v name="$2" '$1 ~ name { print $2 }'
}

# block_of FILE: logical address of its first block
block_of() {
	filefrag -v -b4096 "$1" | awk '$1 == "0:" { print int($4) * 4096 }'
}

profile=$1
try 'disks in memory' lab_null_disks 700 4 || bail_out disks
try mkfs lab_mkfs "$profile/$profile" $([ "$profile" = single ] && echo /dev/disk1 || echo /dev/disk{1,2,3}) || bail_out mkfs
try mount lab_mount /dev/disk1 || bail_out mount
lab_small_files "$LAB_MNT/small" 3000 1500 >/dev/null
lab_fill "$LAB_MNT/f" 40
dd if=/dev/urandom of="$LAB_MNT/victim" bs=64K count=1 oflag=direct status=none
sync
sum=$(lab_sum "$LAB_MNT/f" "$LAB_MNT/victim" "$LAB_MNT"/small/*)
victim=$(block_of "$LAB_MNT/victim")
try 'a disk more' btrfs device add -f "/dev/disk$([ "$profile" = single ] && echo 2 || echo 4)" "$LAB_MNT"
read -r data data_stripe data_on data_at <<<"$(first DATA "$([ "$profile" = single ] && echo "$victim" || block_of "$LAB_MNT/f")")"
# Where the file is in the stripe.
[ "$profile" != raid1 ] || data_at=$((data_at + $(block_of "$LAB_MNT/f") - data))
read -r meta meta_stripe meta_on meta_at <<<"$(first METADATA)"
data_to=$(vacant /dev/disk1 "$data" 4 | head -n 1)
meta_to=$(vacant /dev/disk1 "$meta" 4 | head -n 1)
try unmount umount "$LAB_MNT"

if [ "$profile" = single ]; then
	# The first block of the victim, of which there is one copy.
	overwrite "$data_on" $((data_at + victim - data)) 4096
	try 'mount again' lab_mount /dev/disk1 || bail_out mount
	"$move" start "$data:0:2" >/tmp/moved
	is "$(head -n 1 /tmp/moved)" 'EIO unrepairable' 'refused'
	is "$(awk 'END { print $NF }' /tmp/moved)" "$victim" 'with the address of the block'
	is "$(at /dev/disk1 "$data" 0)" "$data_on" 'the chunk stays'
	in_range "$(stat_of 1 corruption_errs)" 1 9 'the error is counted'
	is "$(dmesg | grep -c "no good copy of block $victim to move")" 1 'the log says which'
	rm "$LAB_MNT/victim"
	sync
	try 'without that file it moves' "$move" start "$data:0:2"
	is "$(lab_sum "$LAB_MNT/f" "$LAB_MNT"/small/*)" "$(sed 2d <<<"$sum")" contents
else
	for n in 0 3 9 33; do
		overwrite "$data_on" $((data_at + 65536 * n)) 4096
		overwrite "$meta_on" $((meta_at + 65536 * n)) 16384
	done
	# Sectors that cannot be read, in data and metadata.
	bad_block "$data_on" + $((data_at + 65536 * 42))
	bad_block "$meta_on" + $((meta_at + 65536 * 5))
	try 'mount again' lab_mount "/dev/disk$data_on" || bail_out mount
	if [ "$profile" = raid5 ]; then
		# Row 40 has parity there.
		bad_block "$data_on" + $((data_at + 65536 * 40))
		is "$("$move" start "$data:$data_stripe:$data_to" | head -n 1)" 'EIO unrepairable' 'parity that cannot be read is refused'
		is "$(at "/dev/disk$data_on" "$data" "$data_stripe")" "$data_on" 'the stripe stays'
		bad_block "$data_on" - $((data_at + 65536 * 40))
	fi
	"$move" start "$data:$data_stripe:$data_to" "$meta:$meta_stripe:$meta_to" >/tmp/moved
	diag "$(cat /tmp/moved)"
	try 'both move' grep -q '^moved 2 of 2' /tmp/moved
	in_range "$(awk '{ print $(NF - 1) }' /tmp/moved)" 3 60 'repaired blocks'
	is "$(at "/dev/disk$data_on" "$data" "$data_stripe") $(at "/dev/disk$data_on" "$meta" "$meta_stripe")" "$data_to $meta_to" 'to other disks'
	in_range "$(stat_of "$data_on" corruption_errs)" 1 100 'wrong contents are counted'
	in_range "$(stat_of "$data_on" read_io_errs)" 1 100 'so are errors of reads'
	lab_drop_caches
	try scrub lab_scrub
	is "$(lab_sum "$LAB_MNT/f" "$LAB_MNT/victim" "$LAB_MNT"/small/*)" "$sum" contents
	dmesg -C
fi
try 'unmount at the end' umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/disk2
done_testing
