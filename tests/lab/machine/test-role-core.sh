#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The choice of devices and the space for data as the kernel compiles them, and as
# user space does: the same for every one of 10,000 random arrays.  Runs on the
# host, builds a module against the lab's kernel and loads it there.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
build=$(realpath "${top_builddir:-$here/../../../build}")
kernel=${BTRFS_POLICY_CACHE:-${HOME:-/root}/.cache/btrfs-policy}/${LAB_KERNEL:-6.12}/build-${LAB_CONFIG:-uml}
[ -x "$kernel/linux" ] || skip_all 'no lab kernel; ./quickstart builds it'
grep -qxF 'S["HAVE_CMOCKA_TRUE"]=""' "$build/config.status" || skip_all 'the unit tests need cmocka'
tmp=$(mktemp -d "${TMPDIR:-/dev/shm}/role-core.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

try 'the unit test builds' make -s -C "$build" tests/unit/kernel/test-role-core || done_testing
# The source of the kernel's own tree, not the one that the series has now.
source=$(realpath "$kernel/source")
cp "$here/../../unit/kernel/role-arrays.h" "$source/fs/btrfs/device-role-core.c" "$tmp/"
{
	cat "$here/role-module.c"
	# What the core takes from another file of the kernel.
	sed -n '/^void btrfs_add_avail(/,/^}/p' "$source/fs/btrfs/volumes.c"
} >"$tmp/role-main.c"
echo "obj-m := role-module.o
role-module-y := role-main.o device-role-core.o
ccflags-y := -I$source/fs/btrfs -I$tmp" >"$tmp/Kbuild"
try 'the module builds' make -s -C "$kernel" ARCH=um M="$tmp" modules || done_testing
"$here/lab" run --kernel "$kernel/linux" --share "$tmp" -- \
	sh -c "insmod '$tmp/role-module.ko' && cat /proc/role-arrays && rmmod role-module" >"$tmp/kernel"
is $? 0 'it runs'
"$build/tests/unit/kernel/test-role-core" --digests >"$tmp/user"
is "$(wc -l <"$tmp/kernel")" 10000 'lines'
is "$(diff "$tmp/kernel" "$tmp/user" | head -5)" '' 'both say the same of each array'
done_testing
