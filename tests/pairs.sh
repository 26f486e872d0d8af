#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# pairs.sh - experiments by lot, each run twice in two ways that must give the same rows.
# `pairs.sh BUILD [SECONDS [SEED]]`; see pairs.py.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh

log=build/pairs.log
mkdir -p build
python3 tests/pairs.py "$1" "${2:-12}" ${3:+"$3"} >"$log" || {
    tail -n 5 "$log"
    failed "pairs: tests/pairs.py ends with status $?"
}
while read -r verdict what; do
    if [ "$verdict" = ok ]; then
        passed
    else
        failed "pairs: $what"
    fi
done <"$log"
[ -s "$log" ] || failed "pairs: none was run"
count_sum
