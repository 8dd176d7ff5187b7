#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=3G,seed=1 --disk ssd:size=3G,seed=2 --disk hdd:size=3G,seed=3 --disk hdd:size=3G,seed=4 --disk hdd:size=3G,seed=5 --disk hdd:size=3G,seed=6 --env LAB_ARRAYS=200 --env LAB_SEED=101 --timeout 3600
#
# The same as df.sh, with 200 arrays.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$(dirname "$0")/df.sh"
