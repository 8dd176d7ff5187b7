#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1,volatile=1 --disk ssd:size=1G,seed=2,volatile=1 --disk hdd:size=1G,seed=3,volatile=1
# machines: METADATA DATA SYSTEM
#
# Power cuts at each write of a move of a stripe without another copy; what was not flushed is lost, kept, or half of it is.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cut.sh"

prepare_cuts single/single $(lab_disks)
cut_each "$1" cut 'cut keep' 'cut random'
end_kind "$1"
end_cuts
done_testing
