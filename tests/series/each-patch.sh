#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every patch of the series builds alone; needs a kernel source and an hour. For the night.
set -u

if [ -z "${KERNEL_SRC:-}" ] && [ ! -e /usr/src/linux-source-6.12.tar.xz ]; then
	echo '1..0 # SKIP no kernel source; apt install linux-source-6.12'
	exit 0
fi
n=0
for topic in '' fixes base roles read-policy scrub-send mq-deadline; do
	n=$((n + 1))
	"$top_srcdir/kernel/ktree" ${topic:+--topic "$topic"} check --build 2>&1 | sed 's/^/# /'
	[ "${PIPESTATUS[0]}" -eq 0 ] && ok=ok || ok='not ok'
	echo "$ok $n - ${topic:-all topics}: every patch builds alone without a warning, with its symbols set and unset, and all for 32 bit"
done
echo "1..$n"
