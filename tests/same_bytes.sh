#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# same_bytes.sh - the same experiment gives the same bytes: run twice, with
# one thread and with two, by gcc's build and by clang's, plain and sanitized.
# `same_bytes.sh BUILD...`: every CSV and the audit of each run are compared
# with those of the first build's first run.
#
# glibc has exp, log, pow, sin and others twice, for processors with FMA and
# AVX2 and for those without; one result in some thousands differs in its last
# bit.  GLIBC_TUNABLES makes this processor one without: this and the golden
# experiments must then give the same bytes, too.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh

experiment=tests/experiments/small.yaml
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

# Does the setting change what libm says here?  (glibc before 2.33 knew other
# names; other C libraries know none.)
plain=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX2_Usable,-FMA_Usable
cat >$out/probe.c <<'EOF'
#include <math.h>
#include <stdio.h>
int main(void)
{
    for (int i = 1; i < 20000; i++)
        printf("%a %a %a\n", exp(i * 1e-3), log(i * 1.1), pow(i, 0.37));
}
EOF
"${CC:-gcc}" -o $out/probe $out/probe.c -lm
$out/probe >$out/probe.fma
GLIBC_TUNABLES=$plain $out/probe >$out/probe.plain

# One experiment by the first build's program on both processors.
both() {    # NAME EXPERIMENT
    "$program" run "$2" -o "$out/$1.fma" -j 2 -q >"$out/$1.log" 2>&1 &&
        GLIBC_TUNABLES=$plain "$program" run "$2" -o "$out/$1.plain" -j 2 -q \
            >>"$out/$1.log" 2>&1 || {
        failed "$1 without FMA and AVX2: exit status $?"
        cat "$out/$1.log"
        return
    }
    sums "$out/$1.fma" >"$out/$1.fma.sums"
    sums "$out/$1.plain" >"$out/$1.plain.sums"
    if diff "$out/$1.fma.sums" "$out/$1.plain.sums"; then
        passed
        echo "$1 without FMA and AVX2: same bytes"
    else
        failed "$1 without FMA and AVX2: results differ"
    fi
}
if cmp -s $out/probe.fma $out/probe.plain; then
    echo "skipped: this processor or C library has one libm only," \
        "so that results without FMA and AVX2 cannot be compared"
else
    program=$1/clustersim
    both small $experiment
    for golden in tests/golden/*/experiment.yaml; do
        both "$(basename "$(dirname "$golden")")" "$golden"
    done
fi
echo "same bytes: $(count_sum)"
count_sum >/dev/null
