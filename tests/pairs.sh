#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# pairs.sh - experiments by lot, each run twice in two ways that must give the same rows.
# `pairs.sh BUILD [SECONDS [SEED]]`; see pairs.py.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh

mkdir -p build
count_lines pairs build/pairs.log python3 tests/pairs.py "$1" "${2:-12}" ${3:+"$3"}
count_sum
