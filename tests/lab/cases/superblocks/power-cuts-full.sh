#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=1G,seed=1,volatile=1 --disk hdd:size=1G,seed=2,volatile=1 --disk ssd:size=1G,seed=3,volatile=1
# lab: --disk ssd:size=1G,seed=4,volatile=1 --disk hdd:size=1G,seed=5,volatile=1 --disk ssd:size=1G,seed=6,volatile=1 --timeout 5400
# lab replace-hdd: --allow WARNING:.*dev-replace.c
# lab replace-ssd: --allow WARNING:.*dev-replace.c
# machines: add remove replace-hdd replace-ssd relocate move
#
# The power is cut while devices or places of metadata change beside a load that syncs, after each STEP-th write, on a new
# array each time. It is mounted without each device in turn, or with all. What was synced is there.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cuts.sh"

# come_back DEVICE: without it, or with all if it is ''
come_back() {
	local by=/dev/labdb

	# Replaced, it may be no member any more.
	[ "$1" != /dev/labdb ] || by=/dev/labdd
	[ -z "$1" ] || lab_power "$1" 'cut keep'
	btrfs device scan >/dev/null 2>&1
	if lab_mount "$by" "${1:+degraded,ro}"; then
		promised=$((promised + $(wc -l </tmp/synced)))
		wrong+=$("$load" check "$LAB_MNT/work" /tmp/synced | sed "s|^|cut $n without '$1': |; s|\$|; |")
		umount "$LAB_MNT"
	else
		wrong+="cut $n: no mount without '$1'; "
	fi
	[ -z "$1" ] || lab_power "$1" on
	btrfs device scan --forget
}

promised=0 wrong='' checks='' cuts=0 lagged=0
for ((n = 1; n < 2000; n += ${STEP:-7})); do
	how="cut random $n"
	[ $((cuts % 2)) = 0 ] || how=cut
	cut_at "$1" $n || break
	cuts=$((cuts + 1))
	set -- "$1" '' "${old[@]}"
	come_back "${*:2 + n % 5:1}"
	[ $((n % 5)) != 0 ] || btrfs check --check-data-csum /dev/labdb >/tmp/check 2>&1 ||
		checks+="cut $n: $(tail -n 3 /tmp/check); "
done
is "$wrong" '' "$1: what was promised is there after $cuts cuts, $promised files"
is "$checks" '' 'btrfs check'
in_range $cuts 3 2000 'the change was cut in its middle'
in_range $promised $((5 * cuts)) 1000000 'files were promised'
in_range $lagged 1 $((cuts + 1)) 'superblocks lagged'
done_testing
