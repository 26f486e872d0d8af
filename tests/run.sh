#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# run.sh - runs the cmocka programs of one build, one more at a time than there are
# processors, since some wait more than they work, and prints the last lines of each.
# `run.sh BUILD [NAME...]`: all of tests/*/*_test.c, or those named (queue_test).  A program
# that crashes, hangs for fifteen minutes, or runs no test counts as one failure.  The
# longest begin, so that no core waits for one of them at the end.  $PINNED keeps each on
# one processor, so that the program takes one thread unless it is told more.
set -eu
cd "$(dirname "$0")/.."
LONGEST='order_test order_models_test order_claims_test signal_start_test glossary_test
bad_input_test train_resume_test extreme_test exec_test fault_test refusals_test'

one() {
    name=$(basename "$1") log=$1.log status=0 began=$(date +%s)
    [ -z "${PINNED:-}" ] ||
        taskset -pc $((${SLOT:-0} % $(nproc))) $$ >/dev/null 2>&1 || true
    timeout 900 "$1" >"$log" 2>&1 || status=$?
    took=$(($(date +%s) - began))
    awk -v name="$name" -v status="$status" -v counts="$COUNTS" -v took="$took" '
    /^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
    /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
    /^\[==========\] [0-9]+ test/ || /^\[  PASSED  \]/ ||
    /^\[  SKIPPED \] [0-9]/ || /^\[  FAILED  \] [0-9]/ {
        closing = closing "\n    " $0
    }
    /^skip/ { closing = closing "\n    " $0 }
    { last[NR % 40] = $0 }
    END {
        if (status != 0 && !failed) failed = 1
        if (status == 0 && !passed && !skipped) failed = 1
        printf "%d %d\n", passed, failed >>counts
        printf "%s, %d s%s\n", name, took, closing
        if (failed) {
            printf "FAILED  %s, exit status %d, ends:\n", name, status
            for (i = NR > 39 ? NR - 39 : 1; i <= NR; i++)
                print "    | " last[i % 40]
        }
    }' "$log"
}

. tests/count.sh
if [ "$1" = --one ]; then
    one "$2"
    exit
fi
build=$1
shift
[ $# -gt 0 ] || set -- $(cd tests && ls -- */*_test.c | sed 's|.*/||; s/\.c$//')
set -- $(printf '%s\n' "$@" | awk -v longest="$LONGEST" '
    BEGIN { n = split(longest, name, " "); while (n) late[name[n--]] }
    { if ($0 in late) print; else rest[++count] = $0 }
    END { for (i = 1; i <= count; i++) print rest[i] }')
for name in "$@"; do
    echo "$build/tests/$name"
done | xargs -P $(($(nproc) + 1)) --process-slot-var=SLOT -n 1 "$0" --one
echo "$build: $(count_sum)"
count_sum >/dev/null
