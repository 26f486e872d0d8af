#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# run.sh - puts every claim to the test and writes one page:
# `run.sh BUILD [OUT] [OPTION...]`, options as of `clustersim check`.
#
# OUT (out/claims) then has a folder for each claim, claims.csv and report.html.
# A claim that does not hold is an answer, not a failure; status 1 means that an
# experiment could not be run.
set -eu
here=$(dirname "$0")
build=$1 out=${2:-out/claims}
shift
[ $# -eq 0 ] || shift
mkdir -p "$out"
status=0

for file in "$here"/[A-Z][0-9]_*.yaml "$here"/[A-Z][0-9][0-9]_*.yaml; do
    name=$(basename "$file" .yaml)
    began=$(date +%s)
    code=0
    rm -f "$out/$name/checks.csv"
    "$build/clustersim" check "$file" -o "$out/$name" -q "$@" \
        >"$out/$name.log" 2>&1 || code=$?
    if [ $code -gt 1 ]; then
        echo "$name: status $code"
        cat "$out/$name.log"
        status=1
        continue
    fi
    [ -s "$out/$name.log" ] || rm -f "$out/$name.log"
    printf '%-30s %3d s\n' "$name" $(($(date +%s) - began)) >&2
done

"$here/turns.sh" "$build" "$out" || echo "what turns some claims is not up to date" >&2

# The comment at the top of each file, without its first two lines, is what
# the page says of the claim; the answer in words is that of README.md.
for file in "$here"/[A-Z][0-9]_*.yaml "$here"/[A-Z][0-9][0-9]_*.yaml; do
    name=$(basename "$file" .yaml)
    [ -f "$out/$name/checks.csv" ] || continue
    id=${name%%_*}
    sed -n "s/^| $id [^|]* | \([^|]*\) |.*/@answer $id \1/p" "$here/README.md"
    echo "@claim $name"
    sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$file"
    echo "@checks"
    cat "$out/$name/checks.csv"
    [ -f "$out/turns/$name.csv" ] || continue
    echo "@turns"
    cat "$out/turns/$name.csv"
done >"$out/claims.in"
LC_ALL=C awk -v out="$out" -f "$here/csv.awk" -f "$here/page.awk" "$out/claims.in"
rm -f "$out/claims.in"
exit $status
