#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=512M,seed=1 --disk ssd:size=512M,seed=2
# lab: --disk hdd:size=512M,seed=3 --disk hdd:size=512M,seed=4 --env KILLS=50 --timeout 3000
#
# balance-killed.sh with 50 moments.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$(dirname "$0")/balance-killed.sh"
