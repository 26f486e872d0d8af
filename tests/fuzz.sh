#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# fuzz.sh - runs each fuzz harness for a while, two at a time, from the same
# seed every time.  `fuzz.sh BUILD SECONDS`; inputs to begin with come from
# tests/corpus/HARNESS if there are any, what is found stays in BUILD/fuzz.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh

one() {
    name=$(basename "$1")
    found=$(dirname "$1")/../fuzz/$name
    mkdir -p "$found/corpus"
    corpus=tests/corpus/$name
    [ -d "$corpus" ] || corpus=
    # $corpus is one word or none.
    # shellcheck disable=SC2086
    if "$1" -seed=1 -max_total_time="$2" -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -verbosity=0 -artifact_prefix="$found/" \
        "$found/corpus" $corpus >"$found/log" 2>&1; then
        passed
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$found/log")
        echo "$name: ${runs:-?} inputs in $2 s, no fault"
    else
        tail -n 40 "$found/log"
        failed "$name: see $found"
    fi
}

if [ "$1" = --one ]; then
    one "$3" "$2"
    exit
fi
ls tests/fuzz/*.c >/dev/null 2>&1 || { echo "no fuzz harnesses yet"; exit 0; }
for source in tests/fuzz/*.c; do
    echo "$1/tests/$(basename "$source" .c)"
done | xargs -P 2 -n 1 "$0" --one "$2"
echo "fuzz: $(count_sum)"
count_sum >/dev/null
