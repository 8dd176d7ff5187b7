#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cuts of power-cuts-full.sh, and then the stock kernel: it mounts the array with all devices, and a copy of it without
# each in turn, and what was synced is there. Runs on the host and starts a machine for each step.
#	CHANGES="add move" STEP=50 power-cuts-stock.sh

# look SYNCED [DEVICE]: on the stock kernel, without the device. Prints what is wrong.
look() {
	local load by=/dev/labdb

	load=$(dirname "$0")/sync-load
	# Replaced, it may be no member any more.
	[ "${2:-}" != /dev/labdb ] || by=/dev/labdd
	[ -z "${2:-}" ] || lab_power "$2" 'cut keep'
	btrfs device scan >/dev/null 2>&1
	lab_mount "$by" "${2:+degraded,ro}" || { echo 'no mount'; return; }
	[ ! -e "$(lab_sysfs)/allocation/lagging_superblocks" ] || echo 'not the stock kernel'
	"$load" check "$LAB_MNT/work" "$1"
	umount "$LAB_MNT"
}

# in_the_lab cut CHANGE WRITE SYNCED, or look SYNCED [DEVICE]
in_the_lab() {
	. "$LAB_LIB"
	if [ "$1" = look ]; then
		look "${@:2}"
		return
	fi
	. "$(dirname "$0")/lib.sh"
	. "$(dirname "$0")/cuts.sh"
	how="cut random $3"
	[ $(($3 % 2)) = 0 ] || how=cut
	cut_at "$2" "$3" && echo cut
	cp /tmp/synced "$4"
}

if [ -n "${LAB_LIB:-}" ]; then
	in_the_lab "$@"
	exit
fi

here=$(cd "$(dirname "$0")" && pwd)
lab=$here/../../machine/lab
. "$here/../../machine/lib.sh"
build=$(realpath "${top_builddir:-$here/../../../../build}")
cache=${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}/${LAB_KERNEL:-6.12}
ours=$cache/build-${LAB_CONFIG:-uml}/linux stock=$cache/build-uml-stock/linux
[ -x "$ours" ] || skip_all 'no lab kernel; ./quickstart builds it'
[ -x "$stock" ] || skip_all 'no stock kernel for the lab; kernel/ktree build --stock uml'
tmp=$(mktemp -d "${TMPDIR:-/dev/shm}/stock-cuts.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# machine KERNEL IMAGES STEP...
machine() {
	"$lab" run --kernel "$1" --mem 512M --images "$2" --share "$(realpath "$here/../../..")" --share "$build" --share "$tmp" \
		--disk hdd:size=1G,seed=1,volatile=1 --disk hdd:size=1G,seed=2,volatile=1 --disk ssd:size=1G,seed=3,volatile=1 \
		--disk ssd:size=1G,seed=4,volatile=1 --disk hdd:size=1G,seed=5,volatile=1 --disk ssd:size=1G,seed=6,volatile=1 \
		--allow 'WARNING:.*dev-replace.c' --env "PATH=$build/root/usr/bin:$PATH" --env "LD_LIBRARY_PATH=$build/root/usr/lib" \
		-- "$here/power-cuts-stock.sh" "${@:3}" 2>"$tmp/err" || { echo "the machine: $?"; cat "$tmp/err"; }
}

# A mount without a device replays the log on the others, so the next one begins with a copy.
look_without() {
	rm -rf "$tmp/copy"
	cp -r --sparse=always "$tmp/images" "$tmp/copy"
	machine "$stock" "$tmp/copy" look "$tmp/synced" ${1:+"$1"} | sed "s|^|cut $n without '$1': |; s|\$|; |"
}

for change in ${CHANGES:-add remove replace-hdd replace-ssd relocate move}; do
	wrong='' cuts=0 promised=0
	for ((n = 2; n < 2000; n += ${STEP:-21})); do
		rm -rf "$tmp/images" "$tmp/synced"
		mkdir "$tmp/images"
		said=$(machine "$ours" "$tmp/images" cut "$change" $n "$tmp/synced")
		[ "$said" = cut ] || break
		cuts=$((cuts + 1)) promised=$((promised + $(wc -l <"$tmp/synced")))
		for without in '' /dev/labda /dev/labdb /dev/labdc /dev/labdd; do
			wrong+=$(look_without "$without")
		done
	done
	is "$said" '' "$change: the last one ended before the cut"
	is "$wrong" '' "$change: the stock kernel finds what was promised after $cuts cuts, $promised files"
	in_range $cuts 1 2000 "$change: it was cut in its middle"
	in_range $promised $((5 * cuts)) 1000000 'files were promised'
done
done_testing
