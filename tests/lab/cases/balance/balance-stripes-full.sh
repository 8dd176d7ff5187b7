#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 224M --disk ssd:size=6G,seed=1 --disk ssd:size=6G,seed=2 --disk hdd:size=12G,seed=3 --disk hdd:size=12G,seed=4
#
# The same as balance-stripes.sh with 2 GiB of metadata and eight snapshots: at least ten times faster.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$LAB_LIB"
. "$(dirname "$LAB_LIB")/balance.sh"
. "$(dirname "$LAB_LIB")/stripes.sh"

compare_methods 200000 8 10
done_testing
