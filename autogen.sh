#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Makes ./configure from configure.ac; run once in a git checkout.
set -e
cd "$(dirname "$0")"
mkdir -p m4
exec autoreconf --install --force --warnings=all,no-portability
