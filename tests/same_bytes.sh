#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# same_bytes.sh - the same experiment gives the same bytes: run twice, with
# one thread and with two, by gcc's build and by clang's, plain and sanitized.
# `same_bytes.sh BUILD...`: every CSV and the audit of each run are compared
# with those of the first build's first run.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh

experiment=tests/experiments/small.yaml
if [ ! -f experiments/main.c ]; then
    echo "skipped: there is no program yet"
    exit 0
fi
[ -f $experiment ] || { failed "$experiment is missing"; exit 1; }
out=build/same_bytes
rm -rf $out
mkdir -p $out

# Names and checksums of what must be equal, in name order.
sums() {
    (cd "$1" && find . -name '*.csv' -o -name audit.json | sort | xargs cksum)
}
run() {     # RUN PROGRAM THREADS
    "$2" run $experiment -o "$out/$1" -j "$3" -q >"$out/$1.log" 2>&1 || {
        failed "$1: exit status $?"
        cat "$out/$1.log"
        return
    }
    sums "$out/$1" >"$out/$1.sums"
    [ -s "$out/$1.sums" ] || { failed "$1: no results"; return; }
    [ -f $out/first ] || cp "$out/$1.sums" $out/first
    if diff $out/first "$out/$1.sums"; then
        passed
        echo "$1: same bytes"
    else
        failed "$1: results differ"
    fi
}
for build in "$@"; do
    name=$(echo "$build" | tr / _)
    run "${name}_1_thread" "$build/clustersim" 1
    run "${name}_2_threads" "$build/clustersim" 2
done
run again "$1/clustersim" 1
echo "same bytes: $(count_sum)"
count_sum >/dev/null
