#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# text.sh - the look of files: SPDX line first, no tabs, no trailing blanks,
# a last newline, at most 100 columns, no marks of a merge, no link of a manual to a
# file that is not there, and no path of the machine that wrote them.  Stored results
# and traces (CSV, SWF) and the licence are data; tables and links in a manual, and lines
# that cite an address, may be long.

SPDX='SPDX-License-Identifier: GPL-3.0-or-later'
DOTS='^(Makefile|\.ci/run|\.clang-format|\.gitignore)$'

# Looks at all files at once: a process a file takes longer than the work.
check() {
    list=$(files "$DOTS|\\.([ch]|sh|awk|gp|yaml|md)\$")
    echo "$list" | grep -vE '\.md$|^tests/(golden|bad|corpus|regress)/' |
        xargs -r awk -v spdx="$SPDX" '
        function judge() { if (!index(head, spdx)) print name ":1: no line with " spdx }
        FNR == 1 { if (name) judge(); name = FILENAME; head = "" }
        FNR <= 2 && !/^#!/ && head == "" { head = $0 }
        END { if (name) judge() }'
    list=$(echo "$list" | grep -vE '^tests/(bad|corpus|regress)/')
    echo "$list" | LC_ALL=C xargs -r awk '
        function say(why) { print FILENAME ":" FNR ": " why }
        /\t/ && FILENAME !~ /(^|\/)Makefile$/ { say("tab") }
        /[ \t\r]$/ { say("blank at the end of the line") }
        /^(<<<<<<<|>>>>>>>) / { say("mark of a merge") }
        {
            width = $0
            gsub(/[\200-\277]/, "", width)      # count characters, not bytes,
            wide = gsub(/[\343-\355\360]/, "", width) * 2     # those of East Asia twice
            if (length(width) + wide > 100 && !/https?:/ &&
                !(FILENAME ~ /\.md$/ && /^ *\|/)) say("over 100 columns")
        }'
    echo "$list" | grep '\.md$' | xargs -r awk '
        FNR == 1 { code = 0 }
        /^```/ { code = !code }
        { line = code ? "" : $0 }
        {
            while (match(line, /\]\([^)#: ]+[)#]/)) {
                print FILENAME, FNR, substr(line, RSTART + 2, RLENGTH - 3)
                line = substr(line, RSTART + RLENGTH)
            }
        }' | while read -r file line to; do
        [ -e "$(dirname "$file")/$to" ] || echo "$file:$line: $to is linked and not there"
    done
    [ -z "$(echo "$list" | xargs -r tail -q -c 1 | tr -d '\n')" ] || for f in $list; do
        [ -z "$(tail -c 1 "$f")" ] || echo "$f: no newline at its end"
    done
    echo "$list" | grep -v '^tests/gates/text\.sh$' |
        xargs -r grep -HnE '(^|[^[:alnum:]_.~-])/(work|tmp/c[s])(/|[^[:alnum:]_-]|$)' |
        sed 's/$/   (path of one machine)/'
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
bad_10() { put README.md 'words and [more](plots/words.md#here)'; }
good() {
    put sim/a.c '/* SPDX-License-Identifier: GPL-3.0-or-later */' 'int x;'
    put sim/README.md "$(printf '%050d' 0 | sed 's/0/\xe4\xb8\xad/g')"
    put README.md "| $(printf '%0101d' 7) |" 'a network/workload, framework' \
        'see [this](README.md#here) and [that](https://example.org/a)'
}
. "$(dirname "$0")/gate.sh"
