#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# mq-deadline's insertion when its lock is taken, checked by spin over every order of events on processors with
# total store order: it holds as it is, and does not if any one of its parts is left out.
set -u
model=${top_srcdir:?}/tests/spin/parked.pml
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
. "$top_srcdir/tests/tap.sh"

command -v spin >/dev/null || skip_all 'no spin to check the model with; Debian has it as spin'

# What spin found, in a word: no part of the model may go unsearched.
verdict() {
	cd "$work" && cp "$model" model.pml && spin -a ${1:+"-D$1"} model.pml >log 2>&1 &&
		"${CC:-cc}" -O0 -DSAFETY -o pan pan.c >>log 2>&1 && ./pan -m100000 >>log 2>&1 || { echo broken; return; }
	grep -q 'search not completed\|max search depth too small' log && ! grep -q 'assertion violated' log && { echo unfinished; return; }
	grep -q 'assertion violated' log && { echo "violated"; return; }
	grep -q 'errors: 0$' log && echo holds || echo 'other error'
}

# expect WHAT FLAG NAME
expect() {
	local found

	found=$(verdict "$2")
	is "$found" "$1" "$3" && return
	sed 's/^/# /' "$work/log" | tail -n 30
}

expect holds '' 'all requests are dispatched'
expect violated NO_DRAIN 'violated if who takes the lock does not insert parked requests'
expect violated BLIND 'violated if parked requests are not looked for'
expect violated NO_RELEASE 'violated if requests are uncounted before they are on their list'
expect violated NO_ACQUIRE 'violated if work is looked for in the other order'
expect violated NO_RUN 'violated if who parks does not run the queue'
done_testing
