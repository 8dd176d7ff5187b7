#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each topic alone on a stock kernel: it builds without a warning, the kernel names it and no other, and the cases of
# the lab that belong to it pass. `fixes`, `base` and `superblocks` add nothing to name; `base` has no case, those of `superblocks` need roles. For the night. KERNELS= and TOPICS= select some.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/series/lib.sh"

cases_of() {
	case $1 in
	fixes)
		printf 'tests/lab/cases/balance/%s.sh\n' balance-freed-space convert-last-space other-profile overcommit-profile quota-again raid5-reused \
			remove-tight remove-undone replace-begin replace-end replace-no-space replace-over replace-away seed-removed space-after-remove sprout-mount system-chunk system-space
		echo tests/lab/cases/scrub-send/read-repair-lost.sh ;;
	roles)
		printf 'tests/lab/cases/roles/%s.sh\n' placement refuse sysfs ssd-and-hdds small-ssd add-role df df-metadata-full \
			data-disk-full full-metadata-ssd metadata-returns full-array replace-full replace-two-dead replace-missing \
			roles-access degraded-system raid1c4 roles-checks roles-corners sync roles-life roles-foreign roles-power roles-swapfile degraded gone large-extents replace-missing-space role-while-removed roles-zoned freeze-pending role-loop convert-no-space \
			balance-beside unmount-pending ;;
	read-policy)
		printf 'tests/lab/cases/read-policy/%s.sh\n' rr-settings rr-toggle rr-slow rr-degraded rr-devices rr-profiles rr-shares \
			rr-queue rr-starts rr-switch rr-direct rr-files rr-turns rr-writes roundrobin-speed ;;
	scrub-send)
		printf 'tests/lab/cases/scrub-send/%s.sh\n' raid56-alone degraded-reads readonly-reads unmount-readahead raid56-limit partly-used partly-used-parity raid56-unused replace-unused replace-written replace-unread replace-unrepaired replace-trim replace-two-missing parity-repair ;;
	move-stripe)
		# Not `rate`: without scrub-send a hard disk idles a third of the time while scrub verifies, and data moves at
		# 187 of 217 MiB/s.
		printf 'tests/lab/cases/move-stripe/%s.sh\n' profiles refused damage power beside stop ;;
	esac
}

# The files of topics in /sys/fs/btrfs/features of the kernel that is built.
names_itself() {
	local features names

	features=$("$top/tests/lab/machine/lab" run --disk hdd:size=1G -- /bin/ls /sys/fs/btrfs/features 2>/dev/null) || return
	names=$(grep -x -e device_role -e read_policy_roundrobin -e scrub_send_readahead -e move_stripe <<< "$features")
	echo "topics of the kernel: $names"
	case $1 in
	roles) [ "$names" = device_role ] ;;
	read-policy) [ "$names" = read_policy_roundrobin ] ;;
	scrub-send) [ "$names" = scrub_send_readahead ] ;;
	move-stripe|superblocks) [ "$names" = move_stripe ] ;;
	*) [ -z "$names" ] ;;
	esac
}

# builds VERSION TOPIC: the log of an earlier build is still there
builds() {
	local out

	out=$("$top/kernel/ktree" --kernel "$1" --topic "$2" build uml) || return
	! grep -E '^[^ ]*(fs/btrfs|block)/[^ ]*: warning:' "$out/build.log"
}

alone() {
	local topic

	export LAB_KERNEL=$1
	for topic in ${TOPICS:-$(topics_of "$1")}; do
		# mq-deadline is another module; its tests are in tests/mq-deadline.
		[ -d "$top/kernel/$1/$topic" ] && [ "$topic" != mq-deadline ] || continue
		export LAB_CONFIG=uml-$topic
		step "Linux $1, $topic: the kernel builds" builds "$1" "$topic" || continue
		step "Linux $1, $topic: the disks of the lab build" "$top/tests/lab/machine/lab" build || continue
		step "Linux $1, $topic: the kernel names it, and no other topic" names_itself "$topic"
		run_cases $(cases_of "$topic")
	done
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export dir top
export -f run_test
check_selection
fetch_sources
each_kernel alone
done_testing
