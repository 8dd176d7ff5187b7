#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk ssd:size=1G,seed=1,volatile=1 --disk ssd:size=1G,seed=2,volatile=1 --disk ssd:size=768M,seed=3,volatile=1
# lab: --disk hdd:size=1G,seed=4,volatile=1 --disk ssd:size=768M,seed=5,volatile=1 --disk ssd:size=1G,seed=6,volatile=1
# lab: --env ROUNDS=100 --timeout 3000
#
# drain-random.sh with 100 arrays.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$(dirname "$0")/drain-random.sh"
