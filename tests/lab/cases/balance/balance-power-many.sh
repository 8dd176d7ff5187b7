#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=512M,seed=1,volatile=1 --disk ssd:size=512M,seed=2,volatile=1
# lab: --disk hdd:size=512M,seed=3,volatile=1 --disk hdd:size=512M,seed=4,volatile=1 --env CUTS=50 --timeout 3000
#
# balance-power.sh with 50 moments.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$(dirname "$0")/balance-power.sh"
