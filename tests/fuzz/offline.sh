#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Hostile images: a fixed number of rounds of damage on small file systems of
# several shapes. FUZZ_ROUNDS and FUZZ_FIRST ask for more and for others.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

command -v mkfs.btrfs >/dev/null || skip_all "no mkfs.btrfs to make images with"
fuzz=$top_builddir/tests/fuzz/fuzz-offline
rounds=${FUZZ_ROUNDS:-400} first=${FUZZ_FIRST:-1}
# Time of the processor, so that a walk without end is found.
ulimit -t 900

images() {	# NAME COUNT MKFS-OPTION...
	local name=$1 count=$2 i
	shift 2
	images=()
	for ((i = 0; i < count; i++)); do
		truncate -s 256M "$T/$name.$i"
		images+=("$T/$name.$i")
	done
	mkfs.btrfs -q -f "$@" "${images[@]}" >/dev/null 2>&1
}

survives() {
	"$fuzz" "$first" "$rounds" "${images[@]}"
}

try() {	# NAME COUNT MKFS-OPTION...
	images "$@" || { result 1 "$1: mkfs.btrfs fails"; return; }
	check "$1: $rounds rounds of damage" survives
	rm -f "$T/$1".*
}

mkdir "$T/tree"
for n in {1..40}; do echo "$n" >"$T/tree/$n"; done

for shape in "dup 1 -m dup -n 4096 --rootdir $T/tree" "raid1 3 -d raid1 -m raid1" \
	     "raid10 4 -d raid10 -m raid10" "raid5 3 -d raid5 -m raid5" "mixed 1 -M"; do
	# shellcheck disable=SC2086
	try $shape
done

# The default of mkfs.btrfs from 6.19 on, which this Debian may not have yet.
newer_progs
case $? in
0) PATH=$progs:$PATH try group-tree 2 -d raid0 -m raid0 -O block-group-tree ;;
77) result 0 "group-tree # SKIP $(tail -n 1 "$T/progs")" ;;
*) result 1 group-tree "$T/progs" ;;
esac
done_testing
