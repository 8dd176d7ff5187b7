#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Files of saved settings as people and accidents make them: the corpus, then a fixed
# number of rounds of damage on it.  FUZZ_ROUNDS and FUZZ_FIRST ask for others.
set -u
. "${top_srcdir:?}/tests/cli/lib.sh"

# A parser that stands still ends too.
ulimit -t 300

survives() {
	"$top_builddir/tests/fuzz/fuzz-saved" "${FUZZ_FIRST:-1}" "${FUZZ_ROUNDS:-20000}" \
		"$top_srcdir"/tests/fuzz/corpus/saved/*.conf
}

check "saved settings" survives
sed 's/^/# /' "$T/diagnosis"
done_testing
