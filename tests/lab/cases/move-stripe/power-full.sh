#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1,volatile=1 --disk ssd:size=1G,seed=2,volatile=1 --disk hdd:size=1G,seed=3,volatile=1
# lab: --disk ssd:size=1G,seed=4,volatile=1 --disk ssd:size=1G,seed=5,volatile=1 --timeout 5400
# machines: single dup raid0 raid1 raid1c3 raid1c4 raid10 raid5 raid6
#
# power.sh with each profile, and each write three times: what was not flushed is lost, kept, or half of it is.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cut.sh"

declare -A devices=([single]=1 [dup]=1 [raid0]=2 [raid1]=2 [raid1c3]=3 [raid1c4]=4 [raid10]=4 [raid5]=3 [raid6]=4)
mapfile -t disks < <(lab_disks)
for kind in DATA METADATA SYSTEM; do
	prepare_cuts "$1/$1" "${disks[@]:0:${devices[$1]}}"
	if [ $kind = SYSTEM ]; then
		# The device that is vacant may be taken soon.
		cut_each $kind cut 'cut keep' 'cut random'
	else
		for how in cut 'cut keep' 'cut random'; do
			cut_each $kind "$how"
		done
	fi
	end_kind $kind
	end_cuts
	wipefs -qa "${disks[@]}"
done
done_testing
