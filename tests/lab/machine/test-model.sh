#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=32G,seed=1 --disk ssd:seed=1 --disk nvme:seed=1 --disk hdd:size=8G,rpm=5400,rate=180M,inner=90M,readahead=0,wcache=0 --disk hdd:size=8G,seed=2 --disk track:size=16G,seed=3
#
# Do the modelled disks behave like disks?  Figures in virtual time are exact
# and the same in every run, but they are held against ranges that follow from
# the parameters, so that a better scheduler in the model does not fail here.

[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../cases/host.sh"
. "$LAB_LIB"
hdd=/dev/labda ssd=/dev/labdb nvme=/dev/labdc slow=/dev/labdd spare=/dev/labde track=/dev/labdf

measure() {
	lab_measure --direct=1 --ioengine=libaio "$@"
}

# rate DEVICE FIO_ARGUMENT...: MiB/s, read or written
rate() {
	local device=$1

	shift
	measure --name=rate --filename="$device" "$@" | awk '{ print $2 + $5 }'
}

# iops DEVICE DEPTH [FIO_ARGUMENT...]: random 4 KiB reads over the whole device
iops() {
	local device=$1 depth=$2

	shift 2
	measure --name=iops --filename="$device" --rw=randread --bs=4k \
		--iodepth="$depth" --number_ios=1500 "$@" | awk '{ print $3 + $6 }'
}

# skip_factor N KIB: reading KIB and skipping (N - 1) KIB, as each of N mirrors
# does that share a stream; N times the rate over the media rate
skip_factor() {
	rate $hdd --rw="read:$((($1 - 1) * $2))k" --bs="$2k" --iodepth=2 \
		--io_size=256M --size=32G | awk -v n="$1" '{ printf "%.2f", $1 * n / 217 }'
}

### Hard disk, 7200/min, 217 MiB/s

in_range "$(rate $hdd --rw=read --bs=1M --size=256M)" 214 217 \
	"hdd: sequential reads run at the media rate"
in_range "$(rate $hdd --rw=read --bs=1M --size=256M --iodepth=8)" 214 217 \
	"hdd: and no faster with a queue"
in_range "$(rate $hdd --rw=read --bs=64k --size=128M)" 200 217 \
	"hdd: read-ahead keeps small sequential reads at the media rate"
in_range "$(rate $hdd --rw=write --bs=1M --size=512M --end_fsync=1)" 205 225 \
	"hdd: sequential writes run at the media rate"
# 0.8 ms + 14.3 ms * E(sqrt(distance)) 8/15 + half of 8.33 ms + 0.06 ms
one=$(iops $hdd 1)
in_range "$one" 75 80 "hdd: random reads, one at a time"
many=$(iops $hdd 32)
in_range "$(echo "$many $one" | awk '{ print $1 / $2 }')" 2 3 \
	"hdd: 32 at once are two to three times as many"
in_range "$(iops $hdd 1 --rw=randwrite)" 150 450 \
	"hdd: the write cache sorts random writes"
in_range "$(lab_stat $hdd max_queue)" 32 32 "hdd: takes 32 requests at once"

for row in "2 512 0.95 1.05" "2 4096 1.4 1.6" "2 16384 1.75 1.9" \
	"3 256 0.95 1.05" "3 1024 1.3 1.6" "3 2048 1.75 2.05" \
	"3 4096 2.1 2.4" "3 8192 2.4 2.7" "3 16384 2.65 2.9" \
	"4 4096 2.7 3.1"; do
	read -r n kib low high <<<"$row"
	in_range "$(skip_factor "$n" "$kib")" "$low" "$high" \
		"hdd: read $kib KiB, skip $((n - 1)) times that"
done

### Hard disk with tracks, 7200/min, 240 MiB/s without switches

is "$(cat /sys/block/${track##*/}/queue/rotational)" 1 "track: it is rotational"
in_range "$(rate $track --rw=read --bs=1M --size=256M)" 212 222 "track: sequential reads, switches of tracks included"
in_range "$(rate $track --rw=read --bs=64k --size=128M)" 206 222 "track: the buffer keeps small sequential reads at that rate"
in_range "$(rate $track --rw=read --bs=1M --offset=16000M --size=256M --iodepth=4)" 114 124 "track: the innermost tracks"
in_range "$(rate $track --rw=write --bs=1M --size=512M --end_fsync=1)" 206 225 "track: sequential writes"
# 8.5 ms + half of 8.33 ms + 0.06 ms
in_range "$(iops $track 1)" 75 80 "track: random reads, one at a time"
in_range "$(iops $track 4)" 85 105 "track: 4 at once"
in_range "$(iops $track 8)" 100 125 "track: 8 at once"
in_range "$(iops $track 16)" 120 145 "track: 16 at once"
in_range "$(iops $track 32)" 140 165 "track: 32 at once"
lab_slow $track 1000
# The start, a seek and a revolution, takes up to 170 ms of the 12 s.
in_range "$(rate $track --rw=read --bs=1M --size=256M)" 21.2 22.2 "track: ten times slower"
lab_slow $track 100
in_range "$(iops $track 1 --rw=randwrite)" 120 300 "track: the write cache sorts random writes"

### Parameters

in_range "$(rate $slow --rw=read --bs=1M --size=128M --iodepth=4)" 175 181 \
	"5400/min: its own rate at the outer edge"
in_range "$(rate $slow --rw=read --bs=1M --offset=7900M --size=128M --iodepth=4)" \
	88 92 "5400/min: half of it at the inner"
# Without read-ahead every read waits for one revolution of 11.1 ms.
in_range "$(iops $slow 1 --rw=read --number_ios=300)" 89 91 \
	"5400/min: no read-ahead, one 4 KiB read a revolution"
in_range "$(iops $slow 1 --rw=write --number_ios=300)" 89 91 \
	"5400/min: no write cache, one 4 KiB write a revolution"
in_range "$(iops $slow 1)" 68 74 "5400/min: random reads, one at a time"

### SATA SSD: 90 us, 10 channels, 513 MiB/s

in_range "$(rate $ssd --rw=read --bs=1M --size=256M --iodepth=4)" 500 513 \
	"ssd: sequential reads fill the bus"
in_range "$(rate $ssd --rw=write --bs=1M --size=256M --iodepth=4)" 500 513 \
	"ssd: sequential writes fill the bus"
in_range "$(iops $ssd 1)" 9800 10400 "ssd: random reads, one at a time"
in_range "$(iops $ssd 32)" 70000 100000 "ssd: 32 at once"

### NVMe: 70 us, 64 channels, 3.2 GB/s

in_range "$(rate $nvme --rw=read --bs=1M --size=512M --iodepth=8)" 2900 3052 \
	"nvme: sequential reads fill the bus"
in_range "$(iops $nvme 1)" 13000 14000 "nvme: random reads, one at a time"
in_range "$(iops $nvme 32 --number_ios=6000)" 200000 420000 "nvme: 32 at once"

### Changes at run time

lab_slow $ssd 1000
in_range "$(iops $ssd 1)" 980 1040 "slow: ten times slower"
lab_slow $ssd 100
in_range "$(iops $ssd 1)" 9800 10400 "slow: and back"
lab_slow $hdd 1000
in_range "$(rate $hdd --rw=read --bs=1M --size=256M)" 21.4 21.7 \
	"slow: a hard disk keeps its stream"
lab_slow $hdd 100
for percent in 25 50 75; do
	# In a second a hard disk has to go back to its stream once, for 13 ms. Over ten
	# seconds and more it hardly matters in which part of a second the run ends.
	lab_load $spare $percent 1000
	in_range "$(rate $spare --rw=read --bs=1M --size=512M --io_size=2G --iodepth=4)" \
		$((217 * (95 - percent) / 100)) \
		$((217 * (102 - percent) / 100)) "load: $percent % of a hard disk is someone else's"
	lab_load $ssd $percent
	in_range "$(rate $ssd --rw=read --bs=1M --size=256M --iodepth=4)" \
		$((513 * (100 - percent) * 96 / 10000)) \
		$((513 * (100 - percent) * 106 / 10000)) "load: $percent % of an SSD is someone else's"
done
# The interrupted stream left up to 16 pieces of 2 MiB in the drive's buffer.
lab_load $spare 0
in_range "$(rate $spare --rw=read --bs=1M --size=512M --io_size=1G --iodepth=4)" 212 224 \
	"load: and back"

### Writes that must be safe

lab_reset $spare
in_range "$(measure --name=fsync --filename=$spare --rw=randwrite --bs=4k \
	--number_ios=100 --fsync=1 | awk '{ print $8 }')" 8 16 \
	"hdd: flushing one random write takes an access"
is "$(lab_stat $spare flushes)" 99 "hdd: flushes are counted, one between two writes"
is "$(lab_stat $spare writes)" 100 "hdd: so are writes"
in_range "$(measure --name=fsync --filename=$ssd --rw=randwrite --bs=4k \
	--number_ios=100 --fsync=1 | awk '{ print $8 }')" 0.9 1.2 \
	"ssd: a flush takes its millisecond"
done_testing
