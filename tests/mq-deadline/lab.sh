#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The stock mq-deadline and the series' side by side on a modelled hard disk, in virtual time: how many sequential
# writes become one request. Machines differ in the scheduler only. With one processor nothing is ever parked.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}/6.12
kernel=$cache/build-uml/linux
. "$here/../lab/machine/lib.sh"

[ -x "$kernel" ] || skip_all 'no lab kernel; kernel/ktree build uml'
stock=$("$here/make-module" "$cache/linux" "${kernel%/*}" um dd-stock base) || bail_out 'the stock scheduler does not build as a module'
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

# machine SCHEDULER THREADS: the line of lab-guest
machine() {
	"$here/../lab/machine/lab" run --kernel "$kernel" --share "${stock%/*}" --share "$here" --env PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		--disk hdd:size=4G,seed=1 -- "$here/lab-guest" "$stock" "$@" 2>"$work/log" ||
		{ diag "$(tail -n 20 "$work/log")"; echo failed; }
}

ratio() {
	awk "BEGIN { printf \"%.3f\", ${1:-0} / ${2:-1} }"
}

# merge THREADS: as many writes in a request, in no more time
merge() {
	read -ra old < <(machine dd-stock "$1")
	read -ra new < <(machine mq-deadline "$1")
	diag "$1 writers: stock ${old[*]}, patched ${new[*]}"
	is "${new[2]:-}" "${old[2]:-none}" "$1 writers: writes"
	in_range "$(ratio "${old[1]}" "${new[1]}")" 0.9 100 "$1 writers: writes in a request, of stock's"
	in_range "$(ratio "${old[0]}" "${new[0]}")" 0.98 100 "$1 writers: times faster"
}

for threads in 1 8 32 64; do
	merge $threads
done
done_testing
