#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The picture of the README shows the figures of its table.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

command -v python3 >/dev/null || skip_all "no python3 to draw with"

same_figures() {
	python3 "$top_srcdir/tests/bench/plot-demo" "$top_srcdir/README.md" >"$T/demo.svg" &&
		cmp "$T/demo.svg" "$top_srcdir/Documentation/internals/plots/demo.svg"
}

check "the README's picture is of its table ('make plot-demo' draws it)" same_figures
done_testing
