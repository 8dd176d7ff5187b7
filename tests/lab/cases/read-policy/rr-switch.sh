#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G
# lab: --disk hdd:size=2G,seed=21 --disk hdd:size=2G,seed=22 --disk hdd:size=2G,seed=23 --disk hdd:size=2G,seed=24
# lab: --disk ssd:size=2G,seed=25 --disk ssd:size=2G,seed=26
#
# A stream that runs under pid when roundrobin is switched on: what it has in flight
# then nobody counted.  From many beginnings, on average, the rest of it is about as
# fast as under a policy that was set before the stream began.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"

size=288
rest=192

policy() {
	echo "$1" >"$(lab_sysfs)/read_policy" || bail_out "no policy $1"
}

# stream FIRST KIB: MiB/s of the last $rest MiB under roundrobin, the KIB before them under FIRST
stream() {
	local file start

	policy pid
	lab_drop_caches
	policy "$1"
	exec {file}<"$LAB_MNT/file"
	head -c "${2}K" <&$file >/dev/null
	policy roundrobin
	start=$(lab_now)
	head -c ${rest}M <&$file >/dev/null
	awk -v mib=$rest -v ns=$(($(lab_now) - start)) 'BEGIN { print mib / (ns / 1e9) }'
	exec {file}<&-
}

# array PROFILE DEVICE...
array() {
	local kib fresh switched fresh_sum=0 switched_sum=0

	lab_fresh && lab_mkfs "$@" && lab_mount "$2" noatime || bail_out "no file system on $*"
	lab_fill "$LAB_MNT/file" $size && sync
	for kib in 1024 3000 8192 12345 20000 33333 50000 65536 77777 98304; do
		fresh=$(stream roundrobin $kib)
		switched=$(stream pid $kib)
		diag "after $kib KiB: $fresh MiB/s, switched on then: $switched"
		fresh_sum=$(awk "BEGIN { print $fresh_sum + $fresh }")
		switched_sum=$(awk "BEGIN { print $switched_sum + $switched }")
	done
	in_range "$(awk "BEGIN { print $switched_sum / $fresh_sum }")" 0.9 1.2 "$*: switched on during the stream, over before"
	try 'nothing is left in flight' lab_idle
}

array raid1c3 /dev/labda /dev/labdb /dev/labdc
array raid1c4 /dev/labda /dev/labdb /dev/labdc /dev/labdd
array raid1 /dev/labde /dev/labdf
try unmount umount "$LAB_MNT"
done_testing
