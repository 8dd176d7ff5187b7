#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The stock mq-deadline and the series' side by side on modelled disks, in virtual time: scrub in the idle
# class beside a reader, and how many sequential writes become one request. Machines differ in the scheduler only.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}/6.12
kernel=$cache/build-uml/linux
. "$here/../lab/lib.sh"

[ -x "$kernel" ] || skip_all 'no lab kernel; kernel/ktree build uml'
stock=$("$here/make-stock" "$cache/linux" "${kernel%/*}" um) || bail_out 'the stock scheduler does not build as a module'
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

declare -A models=([hdd]=hdd:size=4G [ssd]=ssd:size=4G [nvme]=nvme:size=4G)

# machine MODEL SCHEDULER ARGUMENT...: the line of lab-guest
machine() {
	local model=$1 scheduler=$2

	shift 2
	"$here/../lab/lab" run --kernel "$kernel" --share "${stock%/*}" --share "$here" --env PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		--env IDLE_LIMIT="${IDLE_LIMIT:-}" --env SPEED="${SPEED:-}" --disk "${models[$model]},seed=1" -- \
		"$here/lab-guest" "$stock" "$scheduler" "$@" 2>"$work/log" || { diag "$(tail -n 20 "$work/log")"; echo failed; }
}

# both MODEL ARGUMENT...: $old and $new, as words
both() {
	local model=$1

	shift
	read -ra old < <(machine "$model" dd-stock "$@")
	read -ra new < <(machine "$model" mq-deadline "$@")
	diag "$model $*: stock ${old[*]}, patched ${new[*]}"
}

ratio() {
	awk "BEGIN { printf \"%.3f\", ${1:-0} / ${2:-1} }"
}

# no_errors LABEL
no_errors() {
	is "${old[1]:-} ${new[1]:-}" '0 0' "$1: scrub finds no errors"
}

# idle MODEL GAP_US LEAST: scrub so many times faster, reads no slower, and none waits longer than a quarter
idle() {
	local label="$1, reads every $2 us"

	both "$1" idle "$2"
	no_errors "$label"
	in_range "$(ratio "${old[0]}" "${new[0]}")" "$3" 100 "$label: scrub, times faster"
	in_range "$(ratio "${new[3]}" "${old[3]}")" 0 1 "$label: average read, of stock's"
	in_range "$(ratio "${new[5]}" "${old[5]}")" 0 0.25 "$label: longest read, of stock's"
}

# limited MODEL GAP_US SPEED MOST_US: scrub reads in small bursts then, and no scheduler holds them up or lets others
# wait for more than one of them
limited() {
	local SPEED=$3 label="$1, reads every $2 us, scrub with $3/s"

	both "$1" idle "$2"
	no_errors "$label"
	in_range "$(ratio "${old[0]}" "${new[0]}")" 0.95 100 "$label: times faster"
	in_range "$(ratio "${new[3]}" "${old[3]}")" 0 1.05 "$label: average read, of stock's"
	in_range "${new[5]:-0}" 1 "$4" "$label: longest read, us"
}

# merge THREADS: as many writes in a request, in no more time
merge() {
	both hdd merge "$1"
	is "${new[2]:-}" "${old[2]:-none}" "hdd, $1 writers: writes"
	in_range "$(ratio "${old[1]}" "${new[1]}")" 0.9 100 "hdd, $1 writers: writes in a request, of stock's"
	in_range "$(ratio "${old[0]}" "${new[0]}")" 0.98 100 "hdd, $1 writers: times faster"
}

idle ssd 200 0.85
idle ssd 1000 1.3
idle ssd 5000 1.1
idle nvme 1000 1.4
limited ssd 200 100M 800
limited ssd 500 100M 800
limited ssd 1000 100M 800
both hdd idle 5000
is "${new[*]}" "${old[*]}" 'hdd, reads every 5000 us: not a microsecond differs'
IDLE_LIMIT=0
read -ra new < <(machine ssd mq-deadline idle 1000)
unset IDLE_LIMIT
read -ra old < <(machine ssd dd-stock idle 1000)
is "${new[*]}" "${old[*]}" 'ssd, no limit: as stock'
for threads in 1 8 32 64; do
	merge $threads
done
done_testing
