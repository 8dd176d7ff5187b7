#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=2G,seed=1,volatile=1 --disk ssd:size=2G,seed=2,volatile=1
#
# A target that cannot be flushed stops a move before the chunk item changes. A freeze does not wait for the copy, nor
# does the cancellation of a scrub. Both places are discarded as the mount option says.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"

# slow_move: in the background, to device 2; its first line is in /tmp/slow later
slow_move() {
	"$move" start limit=20000000 "$data:0:2" >/tmp/slow 2>&1 &
	mover=$!
	sleep 1
}

# content DEVICE OFFSET: bytes there that are not zero, of 1 MiB
content() {
	dd if="$1" bs=1M count=1 iflag=direct,skip_bytes skip="$2" status=none | tr -d '\0' | wc -c
}

# data_stripe: "CHUNK OFFSET DEVID" of the chunk with the file
data_stripe() {
	stripes /dev/labda DATA | awk -v address="$1" '$1 <= address { out = $1 " " $4 " " $3 } END { print out }'
}

try mkfs lab_mkfs single/single /dev/labda || bail_out mkfs
try mount lab_mount /dev/labda || bail_out mount
lab_fill "$LAB_MNT/f" 200
sync
sum=$(lab_sum "$LAB_MNT/f")
address=$(filefrag -v -b4096 "$LAB_MNT/f" | awk '$1 == "0:" { print int($4) * 4096 }')
read -r data offset _ <<<"$(data_stripe "$address")"
try 'a target' btrfs device add -f /dev/labdb "$LAB_MNT"

lab_power /dev/labdb 'no flush'
is "$("$move" start "$data:0:2" | head -n 1)" 'EIO target-error' 'a target that cannot be flushed is refused'
lab_power /dev/labdb on
is "$(at /dev/labda "$data" 0)" 1 'the stripe stays'
in_range "$(btrfs device stats /dev/labdb | awk '$1 ~ "flush_io_errs" { print $2 }')" 1 99 'the error is counted'
dmesg -C

slow_move
in_range "$(lab_time fsfreeze -f "$LAB_MNT")" 0 1000 'ms for a freeze in the middle'
wait $mover
fsfreeze -u "$LAB_MNT"
is "$(head -n 1 /tmp/slow)" 'EAGAIN frozen' 'the move was stopped'
is "$(at /dev/labda "$data" 0)" 1 'the stripe stays, too'

slow_move
btrfs scrub start -B "$LAB_MNT" >/tmp/scrub 2>&1 &
scrubber=$!
sleep 1
in_range "$(lab_time btrfs scrub cancel "$LAB_MNT")" 0 1500 'ms to cancel a scrub that waits'
wait $scrubber
try 'the move goes on' "$move" status
try cancel "$move" cancel
wait $mover
is "$(head -n 1 /tmp/slow)" 'ECANCELED canceled' 'until it is cancelled, too'
try 'scrub without a move' lab_scrub

try 'discard at once' mount -o remount,discard "$LAB_MNT"
at_file=$((offset + address - data))
in_range "$(content /dev/labda $at_file)" 900000 1048576 'bytes of the file are at the old place'
lab_reset
try 'it moves' "$move" start "$data:0:2"
is "$(at /dev/labda "$data" 0)" 2 'to the target'
is "$(content /dev/labda $at_file)" 0 'the old place is discarded'
in_range $(($(lab_stat /dev/labdb discard_bytes) / 1048576)) 200 2048 'MiB discarded at the new place'
lab_drop_caches
is "$(lab_sum "$LAB_MNT/f")" "$sum" contents
try scrub lab_scrub
try 'still writable' lab_writable
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda
done_testing
