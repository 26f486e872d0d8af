#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# golden.sh - each tests/golden/NAME/experiment.yaml must give the very CSVs
# stored in tests/golden/NAME/expected.  `golden.sh BUILD` compares;
# `golden.sh BUILD --bless` shows the difference and stores the new ones.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh

build=$1 bless=${2:-}
out=build/golden
rm -rf $out
mkdir -p $out

for experiment in tests/golden/*/experiment.yaml; do
    case_dir=$(dirname "$experiment")
    name=$(basename "$case_dir")
    "$build/clustersim" run "$experiment" -o "$out/$name" -j 1 -q \
        >"$out/$name.log" 2>&1 || {
        failed "golden $name: exit status $?"
        cat "$out/$name.log"
        continue
    }
    mkdir "$out/$name.csv"
    cp "$out/$name"/*.csv "$out/$name.csv"
    [ "$bless" != --bless ] || mkdir -p "$case_dir/expected"
    if diff -ru "$case_dir/expected" "$out/$name.csv" >"$out/$name.diff"; then
        passed
        echo "golden $name: equal"
    elif [ "$bless" = --bless ]; then
        cat "$out/$name.diff"
        rm -rf "$case_dir/expected"
        cp -r "$out/$name.csv" "$case_dir/expected"
        echo "golden $name: stored"
    else
        head -n 40 "$out/$name.diff"
        failed "golden $name: differs (make bless stores it, after a look)"
    fi
done

# The claims, with one seed: what is measured, not whether it is significant.
claims=tests/golden/claims
experiments/claims/run.sh "$build" "$out/claims" --seeds 1 \
    >"$out/claims.log" 2>&1 || { failed "golden claims"; cat "$out/claims.log"; }
for answers in "$out"/claims/*/checks.csv; do
    echo "# $(basename "$(dirname "$answers")")"
    cat "$answers"
done >"$out/claims.csv"
[ "$bless" != --bless ] || mkdir -p $claims
if diff -u "$claims/checks.csv" "$out/claims.csv" >"$out/claims.diff"; then
    passed
    echo "golden claims: equal"
elif [ "$bless" = --bless ]; then
    cat "$out/claims.diff"
    cp "$out/claims.csv" "$claims/checks.csv"
    echo "golden claims: stored"
else
    head -n 40 "$out/claims.diff"
    failed "golden claims: differs (make bless stores it, after a look)"
fi

# What would turn them: searched again where that takes seconds, else not stale.
if grep ': stale: ' "$out/claims.log"; then
    failed "golden claims: answers of turns.sh are stale"
fi
for answers in "$out"/claims/turns/*.csv; do
    stored=experiments/claims/turns/$(basename "$answers")
    if cmp -s "$answers" "$stored"; then
        passed
    elif [ "$bless" = --bless ]; then
        cp "$answers" "$stored"
        echo "golden claims: $stored stored"
    else
        diff "$stored" "$answers" | head -n 10
        failed "golden claims: $stored differs"
    fi
done

# What the twelve worlds expect of policies that lend, and the floor of all, with
# all their seeds.
for world in experiments/worlds/*.yaml experiments/floor/*.yaml; do
    name=$(basename "$world" .yaml)
    if "$build/clustersim" run "$world" -o "$out/$name" -q >"$out/$name.log" 2>&1 &&
        "$build/clustersim" check "$out/$name" >>"$out/$name.log" 2>&1; then
        passed
        echo "$name: holds"
    else
        grep -A 1 -E 'undecided|does not hold' "$out/$name.log"
        failed "$name: an expectation does not hold"
    fi
done
echo "golden: $(count_sum)"
count_sum >/dev/null
