#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# mutants.sh - `mutants.sh BUILD [OPTION...]`: a sample of single faults, another one each week,
# of which tests must find their share; see mutants.py.  About 40 s of processor time.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh
build=$1
shift

if tests/mutants.py "$build" --near --count 60 --seconds 30 --at-least 0.6 \
    --log "$build/mutants.log" "$@"; then
    passed
else
    failed 'mutants: of the faults above too few make a test fail'
fi
count_sum
