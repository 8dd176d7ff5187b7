#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Hours of the storm, half of them on the kernel with all its checks:
# STORM_HOURS= (8). Pairs of steps that were seen least are preferred. The stock
# kernel tells faults of its own from those of the series.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
export top_builddir=${top_builddir:-$top/build}
minutes=$((${STORM_HOURS:-8} * 30))
results=$top_builddir/tests/storm-long.json
status=0

"$top/kernel/ktree" build --stock uml
"$top/kernel/ktree" build --stock uml-debug
"$top/kernel/ktree" build uml-debug
touch "$results"
for config in uml uml-debug; do
	LAB_CONFIG=$config python3 "$here/storm" --timeout 1800 loop --minutes "$minutes" \
		--jobs "${STORM_JOBS:-2}" --results "$results" --cover "$results" \
		--findings "$top_builddir/tests/storm-findings" || status=1
done
python3 "$here/storm" pairs "$results"
exit $status
