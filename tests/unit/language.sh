#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The language of the documentation: idioms that git's documentation does without.
set -uo pipefail

command -v python3 > /dev/null || { echo '1..0 # SKIP no python3'; exit 0; }
python3 "$top_srcdir/tests/unit/language.py"
