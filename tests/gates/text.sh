#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# text.sh - the look of files: SPDX line first, no tabs, no trailing blanks,
# a last newline, at most 100 columns, no marks of a merge, and no path of the
# machine that wrote them.  Stored results and traces (CSV, SWF) and the licence are data; tables
# and links in a manual, and lines that cite an address, may be long.

SPDX='SPDX-License-Identifier: GPL-3.0-or-later'
DOTS='^(Makefile|\.ci/run|\.clang-format|\.gitignore)$'

check() {
    for f in $(files "$DOTS|\\.([ch]|sh|awk|gp|yaml|md)\$"); do
        case $f in
        *.md | tests/golden/* | tests/bad/* | tests/corpus/* | tests/regress/*) ;;
        *) head -n 2 "$f" | grep -v '^#!' | head -n 1 | grep -q "$SPDX" ||
            echo "$f:1: no line with $SPDX" ;;
        esac
        case $f in tests/bad/* | tests/corpus/* | tests/regress/*) continue ;; esac
        LC_ALL=C awk -v file="$f" '
        function say(why) { print file ":" FNR ": " why }
        /\t/ && file !~ /(^|\/)Makefile$/ { say("tab") }
        /[ \t\r]$/ { say("blank at the end of the line") }
        /^(<<<<<<<|>>>>>>>) / { say("mark of a merge") }
        {
            width = $0
            gsub(/[\200-\277]/, "", width)      # count characters, not bytes,
            wide = gsub(/[\343-\355\360]/, "", width) * 2     # those of East Asia twice
            if (length(width) + wide > 100 && !/https?:/ &&
                !(file ~ /\.md$/ && /^ *\|/)) say("over 100 columns")
        }' "$f"
        [ ! -s "$f" ] || [ -z "$(tail -c 1 "$f")" ] || echo "$f: no newline at its end"
        grep -HnE '(^|[^[:alnum:]_.~-])/(work|tmp/c[s])(/|[^[:alnum:]_-]|$)' "$f" |
            grep -v '^tests/gates/text.sh:' | sed 's/$/   (path of one machine)/'
    done
}

bad_1() { put sim/a.c 'int x;'; }
bad_2() { put sim/a.c '/* SPDX-License-Identifier: GPL-3.0-or-later */' "$(printf '\tint x;')"; }
bad_3() { put README.md 'words '; }
bad_4() { put README.md "$(printf '%0101d' 7)"; }
bad_5() { put README.md 'see /work/main'; }
bad_6() { put sim/a.h '/* SPDX-License-Identifier: MIT */'; }
bad_7() { printf 'x' >README.md; }
bad_8() { put README.md '<<<<<<< HEAD'; }
bad_9() { put README.md "$(printf '%051d' 0 | sed 's/0/\xe4\xb8\xad/g')"; }
good() {
    put sim/a.c '/* SPDX-License-Identifier: GPL-3.0-or-later */' 'int x;'
    put sim/README.md "$(printf '%050d' 0 | sed 's/0/\xe4\xb8\xad/g')"
    put README.md "| $(printf '%0101d' 7) |" 'a network/workload, framework'
}
. "$(dirname "$0")/gate.sh"
