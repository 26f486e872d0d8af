# SPDX-License-Identifier: GPL-3.0-or-later
#
# gate.sh - what every gate shares; sourced as a gate's last line.
#
# A gate defines check, which prints one line per offence found in the current
# folder (no line: the gate holds), and bad_1, bad_2 ..., each of which writes
# a small tree that must be caught.  `gate.sh BUILD` checks the checkout
# against the objects in BUILD; `gate.sh --self-test` proves that every bad
# tree is caught and that the good one passes.

# Files of policies/ that are no policies but what policies stand on.
INFRA='policies/(host|host_[a-z0-9_]+|registry)\.c'

# Tracked and new files by pattern; a tree without git is searched as it lies.
files() {
    { git ls-files -co --exclude-standard 2>/dev/null ||
        find . -name .git -prune -o -path ./build -prune -o \
            -path ./out -prune -o -type f -print | sed 's|^\./||'
    } | sort -u | grep -E "$1" | while read -r f; do
        [ ! -f "$f" ] || echo "$f"
    done
}
FLOORS='(sim|models|policies|workloads|experiments|plots)'
sources() { files "^$FLOORS/[^/]*\\.[ch]\$"; }

# Objects of the library in $build, the program's main left out; an object
# whose source is gone is a leftover.
objects() {
    sources | grep '\.c$' | grep -v '/main\.c$' | while read -r f; do
        [ ! -f "$build/${f%.c}.o" ] || echo "$build/${f%.c}.o"
    done
}

is_infra() { echo "$1" | grep -qxE "$INFRA"; }

# For samples: put FILE TEXT...; object FILE TEXT (a source compiled in build/)
put() {
    file=$1
    shift
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$@" >"$file"
}
object() {
    put "$@"
    mkdir -p "build/$(dirname "$1")"
    gcc -O1 -w -c -I. -o "build/${1%.c}.o" "$1"
}

self_test() {
    status=0 i=1
    samples=$(grep -c '^bad_[0-9]*()' "$0")
    [ "$samples" -gt 0 ] || { echo "$name: has no bad sample"; exit 1; }
    while [ $i -le "$samples" ]; do
        tree=$(mktemp -d)
        if [ -z "$(cd "$tree" && build=build && bad_$i && check)" ]; then
            echo "$name: does not see bad sample $i"
            status=1
        fi
        rm -rf "$tree"
        i=$((i + 1))
    done
    tree=$(mktemp -d)
    found=$(cd "$tree" && build=build && good && check)
    rm -rf "$tree"
    [ -z "$found" ] || { echo "$name: refuses its good sample: $found"; status=1; }
    exit $status
}

name=$(basename "$0" .sh)
here=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-build}
export LC_ALL=C
[ "$build" != --self-test ] || self_test
cd "$here" || exit 1
[ -n "$(objects)" ] || { echo "$name: no objects in $build"; exit 1; }
found=$(check)
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
