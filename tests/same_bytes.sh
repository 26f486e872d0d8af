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
# experiments must then give the same bytes, too.  So they must with the libm of musl,
# where Debian's package musl-dev is installed: its functions are put before glibc's.
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

# One experiment by the first build's program, once more in another setting.
both() {    # NAME EXPERIMENT SETTING WHAT
    "$program" run "$2" -o "$out/$1.own" -j 2 -q >"$out/$1.log" 2>&1 &&
        env "$3" "$program" run "$2" -o "$out/$1.other" -j 2 -q >>"$out/$1.log" 2>&1 || {
        failed "$1 $4: exit status $?"
        cat "$out/$1.log"
        return
    }
    sums "$out/$1.own" >"$out/$1.own.sums"
    sums "$out/$1.other" >"$out/$1.other.sums"
    if diff "$out/$1.own.sums" "$out/$1.other.sums"; then
        passed
        echo "$1 $4: same bytes"
    else
        failed "$1 $4: results differ"
    fi
    rm -rf "$out/$1.own" "$out/$1.other"
}
all_both() {        # SETTING WHAT
    both small $experiment "$1" "$2"
    for golden in tests/golden/*/experiment.yaml; do
        both "$(basename "$(dirname "$golden")")" "$golden" "$1" "$2"
    done
}
program=$1/clustersim
if cmp -s $out/probe.fma $out/probe.plain; then
    echo "skipped: this processor or C library has one libm only," \
        "so that results without FMA and AVX2 cannot be compared"
else
    all_both GLIBC_TUNABLES=$plain 'without FMA and AVX2'
fi

# All of musl's libc.a that is libm, as a library of its own.  What it calls must be in
# it, and it must change what the probe says: else it compares nothing.
musl=/usr/lib/$(uname -m)-linux-musl/libc.a
if [ -f "$musl" ]; then
    mkdir $out/musl
    (cd $out/musl && ar x "$musl" && "${CC:-gcc}" -shared -nostdlib -Wl,--no-undefined -o libm.so \
        cbrt.lo ceil.lo cos.lo erf.lo exp.lo exp2.lo expm1.lo fabs.lo floor.lo fmod.lo \
        hypot.lo log.lo log10.lo log1p.lo log2.lo pow.lo sin.lo sincos.lo tgamma.lo \
        sqrt.lo scalbn.lo \
        exp_data.lo pow_data.lo log_data.lo log2_data.lo __math_*.lo __cos.lo __sin.lo __tan.lo \
        __rem_pio2.lo __rem_pio2_large.lo __fpclassify.lo __signbit.lo -lc)
    LD_PRELOAD=$PWD/$out/musl/libm.so $out/probe >$out/probe.musl
    ! cmp -s $out/probe.fma $out/probe.musl ||
        failed 'the libm of musl says what that of glibc does'
    all_both "LD_PRELOAD=$PWD/$out/musl/libm.so" 'with the libm of musl'
else
    echo "skipped: musl-dev is not installed, so that its libm cannot be compared"
fi
echo "same bytes: $(count_sum)"
count_sum >/dev/null
