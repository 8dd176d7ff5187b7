#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Hostile trees: images whose blocks are right one by one and whose trees are not.
# FUZZ_IMAGES and FUZZ_FIRST ask for more and for others.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

images=${FUZZ_IMAGES:-1000} first=${FUZZ_FIRST:-1}
# Time of the processor, so that a walk without end is found.
ulimit -t 600

end_within_budget() {
	"$top_builddir/tests/fuzz/fuzz-trees" "$first" "$images"
}

check "$images hostile images end within their budget, each with an error or a right answer" \
	end_within_budget
done_testing
