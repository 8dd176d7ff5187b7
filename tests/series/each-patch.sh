#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every patch of the series builds alone; needs a kernel source and half an hour. For the night.
set -u
. "$top_srcdir/tests/tap.sh"

if [ -z "${KERNEL_SRC:-}" ] && [ ! -e /usr/src/linux-source-6.12.tar.xz ]; then
	skip_all 'no kernel source; apt install linux-source-6.12'
fi
for topic in '' fixes base roles read-policy scrub-send mq-deadline; do
	"$top_srcdir/kernel/ktree" ${topic:+--topic "$topic"} check --build 2>&1 | sed 's/^/# /'
	result "${PIPESTATUS[0]}" "${topic:-all topics}: every patch builds alone without a warning, and all for 32 bit"
done
done_testing
