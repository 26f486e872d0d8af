#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# turns.sh - what would turn each claim: `border:` and `sensitivity:` of its file.
# `turns.sh BUILD OUT` writes OUT/turns/NAME.csv for the page.  An experiment with
# one seed, or without any, is searched now, in seconds; of the others it takes
# the answers that are stored here in turns/.  `turns.sh BUILD OUT --store
# [NAME...]` searches those whose answers are stale, with at most 8 seeds, and
# stores all; an interrupted one goes on.
#
# The first line of a stored answer is a checksum of the experiment without its
# comments, of the files that it names, and of its golden results: where one of
# these changes, the answer is stale, and status 1 says so.
set -eu
here=$(dirname "$0")
build=$1 out=$2 mode=${3:-}
shift 2
[ $# -eq 0 ] || shift
status=0
mkdir -p "$out/turns" "$here/turns"

# The files of the experiment that are named in it, one in a line.
named_files() {
    sed -n 's/^[^#]*[ {:]\(\.\.\/[a-zA-Z0-9_./-]*\.yaml\).*/\1/p' "$1" | sort -u
    sed -n 's/^catalogue: \([a-z_]*\.yaml\)$/\1/p' "$1"
}

checksum() {
    {
        sed 's/ *#.*//' "$here/$1.yaml"
        for named in $(named_files "$here/$1.yaml"); do cat "$here/$named"; done
        awk -v name="# $1" '/^# / { on = $0 == name } on' \
            "$here/../../tests/golden/claims/checks.csv"
    } | cksum | cut -d' ' -f1
}

# Searches, and writes what the page needs of border.csv and sensitivity.csv.
search() {
    name=$1 folder=$out/$1 seeds=
    few=$(sed -n 's/^seeds: \([0-9]*\).*/\1/p' "$here/$name.yaml")
    [ "${few:-1}" -le 8 ] || seeds='--seeds 8'
    rm -f "$folder/border.csv" "$folder/sensitivity.csv"
    for search in border sensitivity; do
        grep -q "^$search:" "$here/$name.yaml" || continue
        code=0
        # shellcheck disable=SC2086 # no option, or two words
        "$build/clustersim" $search "$here/$name.yaml" -o "$folder" -q $seeds \
            >"$folder.turns.log" 2>&1 || code=$?
        if [ $code -ne 0 ] && [ $code -ne 5 ]; then
            cat "$folder.turns.log"
            return 1
        fi
    done
    rm -f "$folder.turns.log"
    for table in border sensitivity; do
        [ ! -f "$folder/$table.csv" ] || cat "$folder/$table.csv"
    done | LC_ALL=C awk -f "$here/csv.awk" -f "$here/turns.awk" >"$folder.turns"
    { echo "# $(checksum "$name")"; cat "$folder.turns"; } >"$out/turns/$name.csv"
    rm -f "$folder.turns"
}

for file in "$here"/[A-Z][0-9]_*.yaml "$here"/[A-Z][0-9][0-9]_*.yaml; do
    name=$(basename "$file" .yaml)
    grep -q '^sensitivity:\|^border:' "$file" || continue
    case " $* " in "  " | *" $name "*) ;; *) continue ;; esac
    stored=$here/turns/$name.csv
    began=$(date +%s)
    stale=$(checksum "$name")
    [ ! -f "$stored" ] || [ "$(head -n 1 "$stored")" != "# $stale" ] || stale=
    if grep -q '^seeds: 1$\|^advise:' "$file" ||
        { [ "$mode" = --store ] && [ -n "$stale" ]; }; then
        mkdir -p "$out/$name"
        search "$name" || { echo "$name: no answer"; status=1; continue; }
        [ "$mode" != --store ] || cp "$out/turns/$name.csv" "$stored"
        printf '%-30s %3d s, turns\n' "$name" $(($(date +%s) - began)) >&2
    else
        if [ ! -f "$stored" ]; then
            echo "$name: not searched yet: turns.sh $build $out --store $name"
            continue
        fi
        [ -z "$stale" ] || {
            echo "$name: stale: turns.sh $build $out --store $name"
            status=1
        }
        cp "$stored" "$out/turns/$name.csv"
    fi
done
exit $status
