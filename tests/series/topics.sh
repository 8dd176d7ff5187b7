#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each topic alone on a stock kernel: it builds, the kernel names it and no other, and
# the cases of the lab that belong to it pass. For the night. TOPICS= selects some.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/series/lib.sh"

cases_of() {
	case $1 in
	roles)
		printf 'tests/lab/cases/roles/%s.sh\n' placement refuse sysfs ssd-and-hdds small-ssd add-role df df-metadata-full \
			data-disk-full full-metadata-ssd full-array replace-full replace-two-dead replace-missing \
			roles-access roles-checks roles-corners roles-life roles-foreign roles-power roles-swapfile ;;
	read-policy)
		printf 'tests/lab/cases/read-policy/%s.sh\n' rr-settings rr-toggle rr-slow rr-degraded rr-devices rr-profiles rr-shares \
			rr-queue rr-starts rr-switch rr-direct rr-files rr-turns ;;
	scrub-send)
		printf 'tests/lab/cases/scrub-send/%s.sh\n' raid56-alone ;;
	esac
}

# The files of topics in /sys/fs/btrfs/features of the kernel that is built.
names_itself() {
	local names

	names=$("$top/tests/lab/machine/lab" run --disk hdd:size=1G -- /bin/ls /sys/fs/btrfs/features 2>/dev/null |
		grep -x -e device_role -e read_policy_roundrobin -e scrub_send_readahead)
	echo "topics of the kernel: $names"
	case $1 in
	roles) [ "$names" = device_role ] ;;
	read-policy) [ "$names" = read_policy_roundrobin ] ;;
	scrub-send) [ "$names" = scrub_send_readahead ] ;;
	esac
}

if [ -z "${KERNEL_SRC:-}" ] && [ ! -e /usr/src/linux-source-6.12.tar.xz ]; then
	echo '1..0 # SKIP no kernel source; apt install linux-source-6.12'
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export dir top
export -f run_test
for topic in ${TOPICS:-roles read-policy scrub-send}; do
	export LAB_CONFIG=uml-$topic
	step "$topic: the kernel builds" "$top/kernel/ktree" --topic "$topic" build uml || continue
	step "$topic: the disks of the lab build" "$top/tests/lab/machine/lab" build || continue
	step "$topic: the kernel names it, and no other topic" names_itself "$topic"
	run_cases $(cases_of "$topic")
done
done_testing
