# SPDX-License-Identifier: GPL-3.0-or-later
#
# gate.sh - what every gate shares; sourced as a gate's last line.
#
# A gate defines check, which prints one line per offence found in the current
# folder (no line: the gate holds), and bad_1, bad_2 ..., each of which writes
# a small tree that must be caught.  `gate.sh BUILD` checks the checkout
# against the objects in BUILD; `gate.sh --self-test` proves that every bad
# tree is caught and that the good one passes.  Every sample is tried twice: as
# it is written, and with the files of a floor two folders deeper, because a
# gate that looks at the top of a folder alone sees nothing in its rooms.

# Rooms of policies/ that hold no policies but what policies stand on.
INFRA='policies/(host|leases|nodes|registry|solve|state)/.*\.c'

# Tracked and new files by pattern; a tree without git is searched as it lies.
files() {
    { git ls-files -co --exclude-standard 2>/dev/null ||
        find . -name .git -prune -o -path ./build -prune -o \
            -path ./out -prune -o -name __pycache__ -prune -o -type f -print | sed 's|^\./||'
    } | sort -u | grep -E "$1" | while read -r f; do
        [ ! -f "$f" ] || echo "$f"
    done
}
FLOORS='(sim|models|policies|workloads|experiments|plots)'
# Reference clients in policies/clients are programs of their own, and policies/python is
# a module of Python.
sources() { files "^$FLOORS/.*\\.[ch]\$" | grep -Ev '^policies/(clients|python)/'; }

# Objects of the library in $build, the program's main left out; an object
# whose source is gone is a leftover.
objects() {
    sources | grep '\.c$' | grep -v '/main\.c$' | while read -r f; do
        [ ! -f "$build/${f%.c}.o" ] || echo "$build/${f%.c}.o"
    done
}

is_infra() { echo "$1" | grep -qxE "$INFRA"; }

# Where a sample's file lies: as written, or, if $deep is set, two folders
# deeper.  policies/policy.h, which others' programs include by that name, stays
# where it is.
place() {
    [ -n "$deep" ] || { cat; return; }
    sed -E "s#^(sim|models|policies|workloads|experiments|plots|tests)/([^/]*)\$#\\1/$deep/\\2#
        s#^policies/$deep/policy\\.h#policies/policy.h#"
}
# The same in the lines of a sample, for its #includes.
place_includes() {
    [ -n "$deep" ] || { cat; return; }
    sed -E "s#\"(sim|models|policies|workloads|experiments)/([^/\"]*)\"#\"\\1/$deep/\\2\"#
        s#\"policies/$deep/policy\\.h\"#\"policies/policy.h\"#"
}

# For awk: a line of C without its texts and comments; `inside` is 0 where a
# file begins.
STRIP_C='function strip_c(line,   at) {
    if (inside) {
        if (!(at = index(line, "*/"))) return ""
        line = substr(line, at + 2); inside = 0
    }
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
    if ((at = index(line, "/*"))) { line = substr(line, 1, at - 1); inside = 1 }
    return line
}
'

# For samples: put FILE TEXT...; object FILE TEXT (a source compiled in build/)
put() {
    file=$(echo "$1" | place)
    shift
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$@" | place_includes >"$file"
}
object() {
    put "$@"
    mkdir -p "build/$(dirname "$file")"
    gcc -O1 -w -c -I. -o "build/${file%.c}.o" "$file"
}

# try NAME: what check prints of a tree that NAME writes.
try() {
    tree=$(mktemp -d)
    (cd "$tree" && build=build && "$1" && check)
    rm -rf "$tree"
}

self_test() {
    status=0
    samples=$(grep -c '^bad_[0-9]*()' "$0")
    [ "$samples" -gt 0 ] || { echo "$name: has no bad sample"; exit 1; }
    for deep in '' one/two; do
        i=1
        while [ $i -le "$samples" ]; do
            [ -n "$(try bad_$i)" ] || {
                echo "$name: does not see bad sample $i${deep:+ in $deep/}"
                status=1
            }
            i=$((i + 1))
        done
        found=$(try good)
        [ -z "$found" ] ||
            { echo "$name: refuses its good sample${deep:+ in $deep/}: $found"; status=1; }
    done
    exit $status
}

deep=
name=$(basename "$0" .sh)
here=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-build}
export LC_ALL=C
[ "$build" != --self-test ] || self_test
# `NAME.sh --measure BUILD`: the figures that check judges, for tests/house.sh.
if [ "$build" = --measure ]; then
    build=${2:-build}
    cd "$here" && measure
    exit
fi
cd "$here" || exit 1
[ -n "$(objects)" ] || { echo "$name: no objects in $build"; exit 1; }
found=$(check)
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
