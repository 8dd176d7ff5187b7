#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the commands and the front cost, each beside a command that does nothing or
# the distribution's btrfs. Shows figures; a busy machine makes nothing fail.
set -u
rounds=${1:-200}
bin=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
trap 'rm -rf "$bin"' EXIT
pairs=$top_builddir/tests/bench/pairs
# Programs as they are installed, not libtool's wrappers around them.
cp "$top_builddir/cmds/btrfs" "$bin/btrfs"
cp "$top_builddir"/cmds/.libs/btrfs-policy "$bin/btrfs-policy"
export LD_LIBRARY_PATH=$top_builddir/libbtrfs-policy/.libs
true=$(type -P true)

cat <<'TXT'
| ms of | passed | beside | more | times | processor | beside | more | times | MiB |
|---|---|---|---|---|---|---|---|---|---|
TXT
"$pairs" "$rounds" "btrfs-policy --help" "$bin/btrfs-policy" --help -- "$true"
"$pairs" "$rounds" "btrfs-policy --version" "$bin/btrfs-policy" --version -- "$true"
real=$(type -P btrfs) && {
	"$pairs" "$rounds" "the front: btrfs version" "$bin/btrfs" version -- "$real" version
	"$pairs" "$rounds" "the front: btrfs device" "$bin/btrfs" device -- "$real" device
}
# 30 devices and 100,000 chunks; show asks for devices alone, usage for every chunk.
export FAKE=large
fake=$top_builddir/tests/cli/fake-btrfs-policy
"$pairs" "$rounds" "show, 100,000 chunks" "$fake" show -- "$true"
"$pairs" "$rounds" "show, JSON" "$fake" --format json show -- "$true"
"$pairs" $((rounds / 5 + 1)) "usage, 100,000 chunks" "$fake" usage -T -- "$true"
