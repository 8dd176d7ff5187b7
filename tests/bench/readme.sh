#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Pictures show the figures of the tables that they are drawn from.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

command -v python3 >/dev/null || skip_all "no python3 to draw with"

# same_figures PICTURE
same_figures() {
	cmp "$T/$1" "$top_srcdir/Documentation/internals/plots/$1"
}

check 'tables are drawn' "$top_srcdir/tests/bench/plot-all" "$top_srcdir/Documentation" "$T"
for picture in demo.svg move-stripe.svg; do
	check "$picture is of its table ('make plots' draws it)" same_figures $picture
done
done_testing
