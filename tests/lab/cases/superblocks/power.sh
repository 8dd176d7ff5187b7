#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 512M --disk hdd:size=1G,seed=1,volatile=1 --disk hdd:size=1G,seed=2,volatile=1 --disk ssd:size=1G,seed=3,volatile=1 --disk ssd:size=1G,seed=4,volatile=1
# lab: --disk hdd:size=1G,seed=5,volatile=1
# machines: cut
# machines at night: random
#
# The power is cut after each kind of sync, and in the middle of 20 loads; what was not flushed is lost, or some of it. All that was
# synced is there, and superblocks that lag are older than others.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"

labdisk=/sys/module/labdisk/parameters
load=$(dirname "$0")/sync-load

all_disks() {
	local d

	for d in $(lab_disks); do
		lab_power "$d" "$1"
	done
}

# restart HOW NAME: power is cut, and the file system mounted again
restart() {
	all_disks "$1"
	umount "$LAB_MNT"
	echo 0 >$labdisk/dark
	all_disks on
	lag=$(lagging | xargs)
	lab_mount /dev/labda || bail_out "$2: cannot be mounted any more"
	touch /tmp/synced
	promised=$((promised + $(wc -l </tmp/synced)))
	wrong+=$("$load" check "$LAB_MNT/work" /tmp/synced | sed "s/^/$2: /; s/\$/; /")
	rm -f /tmp/synced
	lags on
	sync_all
}

# cut_at WRITE HOW: in the middle of a load
cut_at() {
	echo "$1" >$labdisk/writes_left
	"$load" run "$LAB_MNT/work" "$1" /tmp/synced
	[ "$(cat $labdisk/writes_left)" = 0 ] || not_ok "cut $1: the load ended before"
	echo 0 >$labdisk/writes_left
	restart "$2" "cut $1"
}

case $1 in
cut) how=cut profile=raid1/raid1 disks=(/dev/labda /dev/labdb) ;;
random) how='cut random' profile=raid5/raid1 disks=(/dev/labda /dev/labdb /dev/labde) ;;
esac
tiered "${disks[@]}" -- /dev/labdc /dev/labdd
mkdir "$LAB_MNT/work"
lags on
sync_all
promised=0 wrong='' lagged=0 others=''
# Right after a sync; three in a row differ.
for kind in inline data rename clone forgotten nocow direct commit; do
	for n in 1001 1002 1003; do
		"$load" run "$LAB_MNT/work" $n /tmp/synced $kind || not_ok "$kind $n"
		restart "${how/random/random $n}" "$kind $n"
	done
done
is "$wrong" '' "$1: after each kind of sync what was promised is there, $promised files"
in_range "$promised" 24 24 'files were promised'
promised=0 wrong=''
for n in $(seq 20); do
	cut_at $((n * 7 % 61 + 1)) "${how/random/random $n}"
	case $lag in
	"${disks[*]}"*) lagged=$((lagged + 1)) ;;
	?*) others+="cut $n: $lag lag; " ;;
	esac
done
is "$wrong" '' "$1: what was promised is there, $promised files"
in_range "$promised" 40 100000 'files were promised'
in_range "$lagged" 15 20 "$lagged cuts left older superblocks on all hard disks"
is "$others" '' 'never on one of them alone, nor on SSDs alone'
try scrub lab_scrub
try unmount umount "$LAB_MNT"
try 'btrfs check' btrfs check --check-data-csum /dev/labda
done_testing
