#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Hours of the storm, half of them on four emulated processors, and half of both on a
# kernel with all its checks: STORM_HOURS= (8). It prefers pairs of steps that were seen
# least. The stock kernel tells its own faults from those of the series.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
export top_builddir=${top_builddir:-$top/build}
minutes=$((${STORM_HOURS:-8} * 15))
results=$top_builddir/tests/storm-long.json
status=0

for config in uml uml-debug storm-smp storm-smp-debug; do
	"$top/kernel/ktree" build --stock "$config"
	"$top/kernel/ktree" build "$config"
done
touch "$results"
for config in uml uml-debug storm-smp storm-smp-debug; do
	options=(--timeout 1800) jobs=${STORM_JOBS:-2}
	[ "$config" = "${config#storm}" ] || options=(--cpus 4) jobs=1
	LAB_CONFIG=$config python3 "$here/storm" "${options[@]}" loop --minutes "$minutes" \
		--jobs "$jobs" --results "$results" --cover "$results" --cover "$here/pairs.json" \
		--findings "$top_builddir/tests/storm-findings" || status=1
done
python3 "$here/storm" pairs "$results" "$here/pairs.json"
exit $status
