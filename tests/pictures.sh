#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# pictures.sh - the pictures of the gallery and of the tutorials are those of today.
#
#   pictures.sh BUILD                  checks the gallery
#   pictures.sh BUILD --draw [NAME]    draws all of them again, and notes their sums;
#                                      NAME: that of the gallery alone
#   pictures.sh --tutorial FILE TREE   checks those of a tutorial that was run in TREE
#
# experiments/gallery/pictures.tsv has a line for each: its file, the experiment or
# tutorial that it is from, the figure, and the sum of the figure's data.  A picture
# whose sum is another one was drawn from other results.  An experiment that runs for
# long is `slow`: the sum is that of its own file, and it runs for --draw alone.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh
list=experiments/gallery/pictures.tsv
tab=$(printf '\t')

# The sum of a figure's data and of the names in it: sum_of FIGURE.  How charts look is
# left out: a new look makes no picture wrong.
sum_of() {
    { cat "$1.dat"; grep -E '^array (policy|point_name|metric)' "$1.gp"; } |
        cksum | tr ' ' ':'
}

# checks PICTURE SUM NOTED
compare() {
    if [ "$2" = "$3" ] && [ -s "$1" ] && [ "$(wc -c <"$1")" -le 61440 ]; then
        passed
    elif [ "$2" != "$3" ]; then
        failed "$1 shows older results: make pictures"
    else
        failed "$1 is not there, or has more than 60 kB"
    fi
}

# keep PNG PICTURE SUM: 64 colours are enough for lines and letters.
keep() {
    pngquant --force --strip --nofs --output "$2" 64 "$1"
    awk -F '\t' -v OFS='\t' -v picture="$2" -v sum="$3" '
        $1 == picture { $4 = ($4 ~ /^slow/ ? "slow " : "") sum } { print }' \
        "$list" >"$list.part" && mv "$list.part" "$list"
}

# The template of a figure; NAME.gp is one of the gallery's own.
template() { case $1 in *.gp) echo "experiments/gallery/$1" ;; *) echo "plots/$1.gp" ;; esac; }
slow_sum() { cksum <"$1" | tr ' ' ':'; }

if [ "$1" = --tutorial ]; then
    while IFS=$tab read -r picture from figure noted; do
        [ "$from" = "$2" ] || continue
        at=$3/$figure
        sum=$(sum_of "$at")
        if [ "${DRAW:-}" = 1 ]; then keep "$at.png" "$picture" "$sum"; fi
        [ "${DRAW:-}" = 1 ] || compare "$picture" "$sum" "$noted"
    done <"$list"
    count_sum
    exit
fi

build=$(cd "$1" && pwd)
draw=${2:-} only=${3:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$count_file"' EXIT
[ -z "$draw" ] || command -v pngquant >/dev/null || {
    echo 'pictures: pngquant is needed to draw (apt-get install pngquant)' >&2
    exit 1
}
# A copy: the list is written while it is read.
cp "$list" "$scratch/list"
while IFS=$tab read -r picture from figure noted; do
    case $from in *"/$only.yaml") ;; *.yaml) [ -z "$only" ] || continue ;; *) continue ;; esac
    slow=
    case $noted in slow*) slow=1 sum=$(slow_sum "$from") ;; esac
    if [ -z "$slow" ] || [ -n "$draw" ]; then
        "$build/clustersim" "$from" -q -o "$scratch/out" </dev/null 2>"$scratch/said"
        if grep -q gnuplot "$scratch/said"; then failed "$from: $(cat "$scratch/said")"; fi
        at=$scratch/out/plots/${figure%.gp}
        mkdir -p "$scratch/out/plots"
        case $figure in
        *.gp) gnuplot -e "folder = '$scratch/out'" "$(template "$figure")" ;;
        esac
        [ -n "$slow" ] || sum=$(sum_of "$at")
    fi
    if [ -n "$draw" ]; then keep "$at.png" "$picture" "$sum"; fi
    [ -n "$draw" ] || compare "$picture" "$sum" "${noted#slow }"
    rm -rf "$scratch/out"
done <"$scratch/list"
if [ -n "$draw" ] && [ -z "$only" ]; then
    DRAW=1 tests/readme_blocks.sh "$build" experiments/tutorials/[a-z]*.md
fi
# Every experiment of the folder has a picture and its line, or trains.
for file in experiments/*.yaml; do
    case $file in */train_*) continue ;; esac
    name=$(basename "$file" .yaml)
    if grep -q "$tab$file$tab" "$list" && grep -qF "($name.png)" experiments/gallery/README.md; then
        passed
    else
        failed "$file is not in experiments/gallery"
    fi
done
echo "pictures: $(count_sum)"
count_sum >/dev/null
