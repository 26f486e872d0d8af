#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# readme_blocks.sh - what the manual shows is run.  `readme_blocks.sh BUILD
# [CHAPTER...]`; each README.md that has blocks gets the tree as it was copied, in
# which they run from top to bottom.  A tutorial begins in a folder in
# which nothing lies but a checkout, clustersim/; where its blocks go and what
# they export holds for the blocks that follow.
#
#   console  lines after "$ " are run by one shell (a "\" at the end goes on
#            in the next line); the other lines are what must come out, where
#            "..." in a line stands for anything and alone for any lines.
#            Nothing shown: only the exit status must be 0.
#   yaml     with a first line "# file: PATH": written there; with a key
#            experiment, cluster or workload at its margin: validated.
#   c        with a first line "/* file: PATH */": written there and compiled.
#
# `<!-- not run: reason -->` on the line before a block exempts it, and is the
# only thing that does; blocks of kind sh, bash or yml are refused.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh
root=$PWD
build=$(cd "$1" && pwd)
shift
tutorials=experiments/tutorials
# shellcheck disable=SC2046 # our file names hold no blanks
[ $# -gt 0 ] || set -- $(find . -name build -prune -o -name out -prune -o \
    -name README.md -print -o -name README.zh.md -print -o -path "./$tutorials/*.md" -print | sort)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$count_file"' EXIT

# Writes each block to DIR/NNN.text with a line "kind line exempt" in DIR/list.
split_blocks() {
    awk -v dir="$2" '
    /^<!-- not run: .+ -->$/ { exempt = FNR; next }
    /^```/ && !inside {
        kind = substr($0, 4)
        sub(/[ {].*/, "", kind)
        inside = 1
        text = sprintf("%s/%03d.text", dir, ++n)
        printf "" > text
        print n, (kind == "" ? "none" : kind), FNR, \
            (exempt && exempt == FNR - 1) >> (dir "/list")
        next
    }
    /^```/ { inside = 0; close(text); next }
    inside { print > text }' "$1"
}

# The commands of a console block become a script that keeps apart what each
# prints; what each should print goes beside it.
console() {
    awk -v dir="$2" '
    function finish() {
        if (n) printf "\n} >%s/out.%d 2>&1\necho $? >%s/status.%d\n", dir, n, dir, n
    }
    /^\$ / || more {
        if (!more) {
            finish()
            printf "{\n"
            n++
            want = dir "/want." n
            printf "" > want
        }
        line = more ? $0 : substr($0, 3)
        more = line ~ /\\$/
        print line
        next
    }
    n { print > want }
    END { finish() }' "$1"
}

# Does file $1 (with its "...") describe file $2?
matches() {
    awk '
    function pattern(s) {
        gsub(/[][\\.^$*+?(){}|]/, "\\\\&", s)
        gsub(/\\\.\\\.\\\./, ".*", s)
        return "^" s "$"
    }
    function same(i, j,   k) {
        if (i > wants) return j > gots
        if (want[i] == "...") {
            for (k = j; k <= gots + 1; k++)
                if (same(i + 1, k)) return 1
            return 0
        }
        return j <= gots && got[j] ~ pattern(want[i]) && same(i + 1, j + 1)
    }
    { sub(/[ \t]+$/, "") }
    FILENAME == ARGV[1] { want[++wants] = $0; next }
    { got[++gots] = $0 }
    END { exit !same(1, 1) }' "$1" "$2"
}

run_console() {
    steps=$scratch/steps
    rm -rf "$steps"
    mkdir "$steps"
    console "$1" "$steps" >"$steps/script"
    [ -z "$keeps" ] ||
        printf 'pwd >%s/folder\nexport -p >%s/exports\n' "$scratch" "$scratch" \
            >>"$steps/script"
    timeout 300 sh "$steps/script" </dev/null >"$steps/log" 2>&1 || true
    i=1
    while [ -f "$steps/want.$i" ]; do
        status=$(cat "$steps/status.$i" 2>/dev/null || echo none)
        if [ -s "$steps/want.$i" ]; then
            matches "$steps/want.$i" "$steps/out.$i" || {
                echo "command $i: shown (<) and printed (>)"
                diff "$steps/want.$i" "$steps/out.$i"
                return 1
            }
        elif [ "$status" != 0 ]; then
            echo "command $i: exit status $status"
            cat "$steps/out.$i" "$steps/log" 2>/dev/null
            return 1
        fi
        i=$((i + 1))
    done
    [ $i -gt 1 ] || { echo "a console block without a command"; return 1; }
}

named() { sed -n '1s|^[#/* ]*file: *\([^ ]*\).*|\1|p' "$1"; }

run_yaml() {
    path=$(named "$1")
    path=${path:-$3/block_$2.yaml}
    mkdir -p "$(dirname "$path")"
    cp "$1" "$path"
    clustersim validate "$path"
}

run_c() {
    path=$(named "$1")
    mkdir -p "$(dirname "$path")"
    cp "$1" "$path"
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -I. -Iclustersim -c -o "$scratch/c.o" "$path"
}

# What a block is to us: run, fragment (nothing to run), or refused.
class() {
    case $1 in
    console) echo run ;;
    yaml)
        if [ -n "$(named "$2")" ] ||
            grep -qE '^(experiment|cluster|workload):' "$2"; then
            echo run
        else
            echo fragment
        fi ;;
    c) if [ -n "$(named "$2")" ]; then echo run; else echo fragment; fi ;;
    sh | bash | shell | yml) echo refused ;;
    *) echo fragment ;;
    esac
}

# A checkout that is built: objects know no folder, so make finds them fresh.
copy_tree() {
    mkdir -p "$1/build"
    tar -cf - --exclude=./build --exclude=./out --exclude=./.git . |
        tar -xf - -C "$1"
    (cd "$build" && tar -cf - ./*.stamp clustersim libclustersim.a embed sim models \
        policies workloads experiments) | tar -xf - -C "$1/build"
}
# What lies in the tree, with the times that any change moves.
list_tree() {
    (cd "$tree" && find . -type d -printf 'd %p\n' -o -printf '%y %p %s %T@ %C@\n') | sort
}
# The tree as it was copied: what a chapter added goes, and the tree is copied again if the
# chapter changed or removed anything.
renew_tree() {
    if [ -d "$tree" ]; then
        find "$(dirname "$tree")" -mindepth 1 -maxdepth 1 ! -path "$tree" -exec rm -rf {} +
        list_tree >"$scratch/now"
        if [ -z "$(comm -23 "$scratch/copied" "$scratch/now")" ]; then
            comm -13 "$scratch/copied" "$scratch/now" | cut -d ' ' -f 2 |
                (cd "$tree" && xargs -r rm -rf)
            return
        fi
        rm -rf "$tree"
    fi
    copy_tree "$tree"
    list_tree >"$scratch/copied"
}

# Runs a block in the folder where it stands: in_place FUNCTION ARG...
in_place() (
    PATH=$tree/build:$PATH
    if [ -f "$scratch/exports" ]; then . "$scratch/exports"; fi
    cd "$(cat "$scratch/folder" 2>/dev/null || echo "$start")"
    "$@"
)

one_readme() {
    blocks=$scratch/blocks tree=$scratch/tree/clustersim folder=$(dirname "$1")
    [ "$folder" != . ] || folder=experiments
    rm -rf "$blocks" "$scratch/folder" "$scratch/exports"
    mkdir -p "$blocks"
    split_blocks "$1" "$blocks"
    [ -f "$blocks/list" ] || return 0
    keeps= start=$tree
    case $1 in "$tutorials"/*) keeps=1 start=$scratch/tree ;; esac
    made=
    while read -r n kind line exempt; do
        text=$blocks/$(printf '%03d' "$n").text
        where=$1:$line
        if [ "$exempt" = 1 ]; then
            echo exempt >>"$scratch/classes"
            continue
        fi
        class=$(class "$kind" "$text")
        echo "$class" >>"$scratch/classes"
        case $class in
        refused) failed "$where: $kind is not run; write console or yaml" ;;
        run)
            [ -n "$made" ] || renew_tree
            made=1
            if in_place "run_$kind" "$text" "$n" "$folder" >"$scratch/log" 2>&1; then
                passed
            else
                sed 's/^/    | /' "$scratch/log"
                failed "$where"
            fi ;;
        esac
    done <"$blocks/list"
    # What a tutorial shows was drawn from these results.
    [ -z "$keeps" ] || tests/pictures.sh --tutorial "$1" "$scratch/tree" >"$scratch/log" ||
        { cat "$scratch/log"; failed "the pictures of $1"; }
}

: >"$scratch/classes"
for readme in "$@"; do
    [ ! -f "$readme" ] || one_readme "${readme#./}"
done
# What the English README runs stands in the Chinese one, letter by letter.
same_blocks() {
    rm -rf "$scratch/en" "$scratch/zh"
    mkdir "$scratch/en" "$scratch/zh"
    split_blocks README.md "$scratch/en"
    split_blocks "$1" "$scratch/zh"
    while read -r n kind line exempt; do
        text=$scratch/en/$(printf '%03d' "$n").text
        [ "$exempt" = 0 ] && [ "$(class "$kind" "$text")" = run ] || continue
        for other in "$scratch"/zh/*.text; do
            cmp -s "$text" "$other" && continue 2
        done
        echo "README.md:$line"
    done <"$scratch/en/list"
}
for readme in "$@"; do
    case $readme in
    *README.zh.md)
        lacks=$(same_blocks "$readme")
        if [ -z "$lacks" ]; then passed; else failed "$readme lacks the block of" $lacks; fi ;;
    esac
done
ran=$(grep -c run "$scratch/classes" || true)
exempt=$(grep -c exempt "$scratch/classes" || true)
echo "blocks: $ran run, $exempt exempt; $(count_sum)"
count_sum >/dev/null
