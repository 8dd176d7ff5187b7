#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --mem 1G --disk hdd:size=2T,seed=1 --disk hdd:size=2T,seed=2 --env LAB_ALL_PROFILES=yes --timeout 3600
# lab: --disk ssd:size=160M,seed=3 --disk ssd:size=128M,seed=4
#
# The same as full-metadata-ssd.sh, with copies on one SSD and on two as well.
[ -n "${LAB_LIB:-}" ] || . "$(dirname "$0")/../host.sh"
. "$(dirname "$0")/full-metadata-ssd.sh"
