#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# page.sh - the report in headless Chromium: `page.sh BUILD`.  Needs Debian's chromium,
# node and, from npm's index, playwright-core; says so and skips where one is absent.
# PAGE=FOLDER keeps the screenshots there.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$count_file"' EXIT

skip() { echo "skip: page: $1"; exit 0; }
browser=$(command -v chromium) || skip 'chromium is not installed'
command -v node >/dev/null && command -v npm >/dev/null || skip 'node or npm is not installed'
npm install --silent --no-audit --no-fund --prefix "$scratch" playwright-core >/dev/null 2>&1 ||
    skip 'playwright-core cannot be had from the index of npm'
cp tests/page.mjs "$scratch/"
mkdir -p "${PAGE:-$scratch/shots}"
"$build/clustersim" experiments/dpo_vs_static.yaml -q -o "$scratch/results" --seeds 3 \
    --set experiment=a_name_of_an_experiment_that_is_wider_than_a_telephone \
    --only static,dynamic >/dev/null ||
    failed 'page: the experiment does not run'
"$build/clustersim" experiments/lend_buy_spot.yaml -q -o "$scratch/options" --seeds 6 \
    --set output.plots=[cost] >/dev/null || failed 'page: the options do not run'
if node "$scratch/page.mjs" "$browser" "$scratch/results/report.html" \
    "${PAGE:-$scratch/shots}" "$scratch/options/report.html" >"$scratch/said" 2>&1; then :; else
    sed 's/^/    | /' "$scratch/said"
    failed 'page: the reader did not reach the end'
fi
sed -n 's/^ok .*/1 0/p' "$scratch/said" >>"$COUNTS"
sed -n 's/^not ok //p' "$scratch/said" >"$scratch/wrong"
while read -r line; do failed "page: $line"; done <"$scratch/wrong"
[ "$(wc -c <"$scratch/results/report.html")" -le 3000000 ] && passed ||
    failed 'page: the report is larger than 3 MB'
count_sum
