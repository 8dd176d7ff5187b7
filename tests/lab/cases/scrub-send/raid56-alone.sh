#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The part of raid56.sh that says something without a stock kernel: damage to data and
# parity is repaired, counted once, and not again after a cancel.
here=$(dirname "$0")
cache=${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}
export ALONE=patched
export PATCHED_KERNEL=${PATCHED_KERNEL:-$cache/${LAB_KERNEL:-6.12}/build-${LAB_CONFIG:-uml}/linux}
export STOCK_KERNEL=$PATCHED_KERNEL
exec "$here/raid56.sh"
