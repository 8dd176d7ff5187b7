#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 224M --disk ssd:size=3G,seed=1 --disk ssd:size=3G,seed=2 --disk hdd:size=6G,seed=3 --disk hdd:size=6G,seed=4
#
# `balance --preferred-metadata` moves metadata from hard disks to SSDs by its stripes, several
# times faster than by relocation.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"
. "$(dirname "$LAB_LIB")/stripes.sh"

compare_methods 60000 4 6
nothing_lost /dev/labdc tree
done_testing
