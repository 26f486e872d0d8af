#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# mpi.sh - `mpi.sh BUILD`: ranks of Open MPI give the bytes of one thread, also after one
# of them was killed; ranks that have no module are refused.  All of it on this machine.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
. tests/count.sh
. tests/ranks.sh
if ! command -v mpirun >/dev/null || [ ! -f "$build/clustersim_mpi.so" ]; then
    echo 'skip: no Open MPI here (Debian: libopenmpi-dev, openmpi-bin)'
    exit 0
fi
work=$(mktemp -d /tmp/clustersim-mpi-XXXXXX)
trap 'rm -rf "$work" $count_file' EXIT
ranks() {
    n=$1
    shift
    mpirun --oversubscribe --allow-run-as-root --mca btl self,vader -n "$n" "$@"
}
many_trials ranks 120 200 >"$work/e.yaml"
cs=$build/clustersim
"$cs" run "$work/e.yaml" -q -j 1 -o "$work/one"

holds 'four ranks give the bytes of one thread' \
    ranks 4 "$cs" run "$work/e.yaml" -q -o "$work/four"
holds 'the bytes of four ranks' same "$work/four"
holds 'logs go when the tables are there' test ! -e "$work/four/.trials"
holds 'two ranks of two threads give the bytes of one thread' \
    ranks 2 "$cs" run "$work/e.yaml" -q -j 2 -o "$work/two"
holds 'the bytes of two ranks of two threads' same "$work/two"

# Kills the $2-th rank as soon as more trials are there; mpirun then ends the others.
killed() {
    out=$1 place=$2 before=$(kept "$out")
    ranks 4 "$cs" run "$work/e.yaml" -q -o "$out" --resume >/dev/null 2>&1 &
    run=$!
    while kill -0 $run 2>/dev/null && [ "$(kept "$out")" -le $((before + 60000)) ]; do
        sleep 0.05
    done
    # $run is a shell, mpirun its child, the ranks the children of that.
    pid=$(children "$(children $run | head -n 1)" | sed -n "${place}p")
    [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
    wait $run
}
children() { [ -z "$1" ] || ps -o pid= --ppid "$1" | tr -d ' '; }
for place in 1 3; do
    if killed "$work/cut" $place; then
        echo "note: the run ended before its rank $((place - 1)) was killed"
        break
    fi
done
holds 'trials that were finished before a rank was killed are kept' \
    sh -c "[ -f '$work/cut/summary.csv' ] || [ \$(cat '$work'/cut/.trials/*.log | wc -c) -gt 0 ]"
holds 'ranks go on where killed ones were' \
    ranks 3 "$cs" run "$work/e.yaml" -q -o "$work/cut" --resume
holds 'the bytes after kills' same "$work/cut"

# A trial that fails on any rank is told once, by rank 0.
status=0
ranks 3 "$cs" run "$work/e.yaml" -o "$work/bad" --seeds 6 --set output.timeline_step=1ns \
    >"$work/said" 2>&1 || status=$?
holds 'failed trials are status 5' test "$status" = 5
holds 'all failed trials are listed' \
    sh -c "[ \$(grep -c '^base,' '$work/bad/failures.csv') = 3 ]"

refused() {
    says=$1
    shift
    ! ranks 2 "$@" >"$work/refused" 2>&1 && grep -q "$says" "$work/refused"
}
holds 'a folder in use is refused to all ranks' sh -c "
    exec 9<'$work/one' && flock -x 9
    ! mpirun --oversubscribe --allow-run-as-root -n 2 '$cs' run '$work/e.yaml' -q \
        -o '$work/one' >'$work/refused' 2>&1 && grep -q 'another run is writing' '$work/refused'"
holds 'check is refused to ranks' refused 'one of several ranks' "$cs" check "$work/e.yaml" \
    --update-baseline "$work/baseline"
holds 'until is refused to ranks' refused 'ranks need a number of seeds' "$cs" run \
    "$work/e.yaml" -o "$work/until" --set 'seeds={until: "±5%", at_most: 40}'
mkdir "$work/plain"
cp "$cs" "$work/plain"
holds 'ranks without the module are refused' \
    refused 'libopenmpi-dev' "$work/plain/clustersim" run "$work/e.yaml" -o "$work/none"
holds 'and ran nothing' test ! -e "$work/none"
holds 'the program links with no MPI' sh -c "! ldd '$cs' | grep -q libmpi"
count_sum
