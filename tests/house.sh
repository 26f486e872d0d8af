#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# house.sh - the shape of the tree in figures, each beside its goal: `make
# house`.  `house.sh BUILD` (whose objects are looked at).  The gates measure
# (`gates/NAME.sh --measure BUILD`); what no gate judges is counted here.  It
# prints and never fails: what must hold is held by the gates.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
export LC_ALL=C

infra=$(sed -n "s/^INFRA='\(.*\)'/\1/p" tests/gates/gate.sh)
product='^(sim|models|policies|workloads|experiments|plots)/.*\.[ch]$'

# Tracked and new files whose names match.
files() {
    { git ls-files -co --exclude-standard 2>/dev/null ||
        find . -name .git -prune -o -path ./build -prune -o -type f -print |
        sed 's|^\./||'
    } | grep -E "$1" | while read -r file; do
        [ ! -f "$file" ] || echo "$file"
    done
}
lines() { files "$1" | xargs -r cat | wc -l; }
measure() { "tests/gates/$1.sh" --measure "$build"; }
offences() { "tests/gates/$1.sh" "$build" | grep -c "$2" || true; }

# row POINT GOAL TODAY [NOTE]: goal and figure are numbers, or as many with
# blanks between; the goal begins with <= or >=.
row() {
    awk -v point="$1" -v goal="$2" -v today="$3" -v note="${4:-}" 'BEGIN {
        most = goal !~ /^>=/
        text = goal
        sub(/^[<>]= */, "", text)
        goals = split(text, limit, " ")
        split(today, figure, " ")
        holds = "yes"
        for (i = 1; i <= goals; i++) {
            over = figure[i] - limit[i]
            if (figure[i] == "" || (most && over > 0) || (!most && over < 0))
                holds = "no"
        }
        gsub(/ /, " / ", text)
        gsub(/ /, " / ", today)
        if (text + 0 > 0) text = (most ? "<= " : ">= ") text
        line = sprintf("%-42s %-19s %-18s %-5s %s", point, text, today, holds, note)
        sub(/ +$/, "", line)
        print line
    }'
}

# The figure and the name of the largest of lines "FIGURE KIND NAME".
largest() { sort -n | awk '{ figure = $1; name = $NF } END { print figure + 0, name }'; }

functions() {
    row 'lines of a function: median / p95 / max' '<=14 40 60' "$(
        measure sizes | grep -v ' tests/' | sort -n | awk '{ n[NR] = $1 }
            END { print n[int((NR + 1) / 2)] + 0, n[int(0.95 * NR + 0.999)] + 0, n[NR] + 0 }')"
}

directions() {
    bytes=0
    for hex in $(measure state | cut -d ' ' -f 1); do
        bytes=$((bytes + 0x$hex))
    done
    row 'bytes of variables outside structs' '<=0' $bytes
    row 'circles: of includes / of calls / of rooms' '<=0 0 0' "$(
        offences include_circles 'contains a loop') $(
        offences call_circles 'contains a loop') $(
        offences rooms 'contains a loop')"
    row 'includes that run up a floor' '<=0' "$(offences layers 'runs up')"
}

# The functions of policy.h that no policy calls.
uncalled() {
    grep -oE '\<cs_[a-z0-9_]+\(' policies/policy.h | tr -d '(' | sort -u >"$scratch.a"
    for file in $(files '^policies/.*\.c$' | grep -vxE "$infra"); do
        [ ! -f "$build/${file%.c}.o" ] || nm -u "$build/${file%.c}.o"
    done | awk '{ print $2 }' | sort -u >"$scratch.b"
    nm -A "$build"/policies/*/*.o 2>/dev/null | awk '$2 == "T" { print $3 }' | sort -u |
        comm -12 "$scratch.a" - | comm -23 - "$scratch.b" |
        awk '{ n++ } END { if (n) print n " called by no policy" }'
}

rooms() {
    # shellcheck disable=SC2046 # two words
    set -- $(measure rooms | largest)
    row 'files of C in one room' '<=40' "$1" "$2"
    measure structs >"$scratch"
    # shellcheck disable=SC2046
    set -- $(grep ' fields ' "$scratch" | largest)
    row 'fields of the largest struct' '<=45' "$1" "$2"
    # shellcheck disable=SC2046
    set -- $(grep ' prototypes ' "$scratch" | grep -v ' policies/policy\.h$' | largest)
    row 'prototypes of a header beside policy.h' '<=40' "$1" "$2"
    row 'functions that policy.h offers' '<=45' "$(
        awk '$3 == "policies/policy.h" { print $1; n++ } END { if (!n) print 0 }' "$scratch"
        )" "$(uncalled)"
    parts
    row 'lines of policy.h' '<=350' "$(lines '^policies/policy\.h$')"
}

# The faces of the host, the list of its parts and the terms of trials, which all of it must
# know, are left out of the largest.
faces=' policies/(host/host|state/(state|terms))\.h$'
parts() {
    measure parts >"$scratch"
    # shellcheck disable=SC2046
    set -- $({ echo 0 -; grep -vE "$faces" "$scratch"; } | largest)
    row 'objects that one part of the host rebuilds' '<=15' "$1" "$2$(
        awk '$2 ~ /\/state\/(state|terms)\.h$/ {
            sub(".*/", "", $2); printf ", %s %d", $2, $1 }' "$scratch")"
}

texts() {
    row 'assertions a function: sim / models / host' '>=1.0 1.0 1.0' "$(
        measure asserts | awk '{ printf "%s%.2f", (NR > 1) ? " " : "", $2 ? $1 / $2 : 0 }')"
    row 'lines with a comment, % of those not blank' '>=20' "$(
        files "$product" | xargs -r awk '
            FNR == 1 { inside = 0 }
            /^[ \t]*$/ { next }
            { all++ }
            inside { said++; if (index($0, "*/")) inside = 0; next }
            /\/\*/ { said++; inside = !index($0, "*/") }
            END { printf "%.1f\n", all ? 100 * said / all : 0 }')"
    row 'lines of tests, of those of the product' '>=0.8' "$(
        awk -v tests="$(lines '^tests/.*\.[ch]$')" -v product="$(lines "$product")" \
            'BEGIN { printf "%.2f\n", product ? tests / product : 0 }')"
}

# Kinds that the gate finds in more than one list, and those that it leaves.
lists() {
    { cat tests/gates/lists.left 2>/dev/null || true
        "tests/gates/lists.sh" "$build" |
            sed -n 's/^\([a-z]*\): \([0-9]*\) lists.*/\2 \1/p'
    } | awk '!/^#/ && NF == 2 { n[$2] = $1 }
        END {
            most = 1
            for (kind in n) if (n[kind] > 1) {
                if (n[kind] > most) most = n[kind]
                print n[kind], kind
            }
            print most, "most"
        }' | sort -k2 >"$scratch"
    row 'lists that name one kind of thing' '<=1' "$(sed -n 's/ most$//p' "$scratch")" \
        "$(grep -v ' most$' "$scratch" | awk '{ printf "%s%s %s", n++ ? ", " : "", $2, $1 }')"
}

manual() {
    files '(^|/)README\.md$' | while read -r file; do
        echo "$(wc -l <"$file") lines $file"
    done | largest >"$scratch"
    read -r figure name <"$scratch"
    row 'lines of a chapter of the manual' '<=300' "$figure" "$name"
}

scratch=$(mktemp)
trap 'rm -f "$scratch" "$scratch.a" "$scratch.b"' EXIT
table=$(functions; directions; rooms; texts; lists; manual)
printf '%-42s %-19s %-18s %-5s %s\n%s\n' point goal today holds where "$table"
printf '%s\n' "$table" | awk '{ all++; holds += / yes( |$)/ }
    END { print holds " of " all " goals hold" }'
