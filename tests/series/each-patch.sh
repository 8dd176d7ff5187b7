#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every patch of the series builds alone, for each kernel; needs a kernel source and an hour. For the night.
# KERNELS= and TOPICS= select some; "all" is all topics together.
set -u
top=$top_srcdir
. "$top/tests/series/lib.sh"

builds() {
	local topic

	for topic in ${TOPICS:-all $(topics_of "$1")}; do
		[ "$topic" = all ] || [ -d "$top/kernel/$1/$topic" ] || continue
		step "Linux $1, $topic: every patch builds alone without a warning, and all for 32 bit" \
			"$top/kernel/ktree" --kernel "$1" $([ "$topic" = all ] || echo --topic "$topic") check --build
	done
}

check_selection all
fetch_sources
each_kernel builds
done_testing
