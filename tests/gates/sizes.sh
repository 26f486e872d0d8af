#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# sizes.sh - what must fit a page does: a function 60 lines (braces included,
# in sources and tests), the Makefile and the README 150, a chapter of the manual
# (README.md of a folder) 300.

# Lines "LINES FILE:LINE" of all functions.
measure() {
    # shellcheck disable=SC2046
    set -- $(files '^(sim|models|policies|workloads|experiments|tests)/.*\.[ch]$')
    [ $# -gt 0 ] || return 0
    awk '
    FNR == 1 { open = 0 }
    /^\{/ || /^[a-z].*\) *\{$/ { open = FNR }
    /^\}/ {
        if (open) print FNR - open + 1, FILENAME ":" open
        open = 0
    }' "$@"
}

check() {
    for page in Makefile README.md; do
        [ ! -f $page ] || awk -v file=$page '
            END { if (NR > 150) print file ": " NR " lines" }' $page
    done
    files '/README\.md$' | while read -r file; do
        awk -v file="$file" 'END { if (NR > 300) print file ": " NR " lines" }' "$file"
    done
    measure | awk '$1 > 60 { print $2 ": function of " $1 " lines" }'
}

long() { awk -v n="$1" 'BEGIN { while (n-- > 0) print "    x++;" }'; }
bad_1() { put sim/a.c 'void a(int x)' '{' "$(long 59)" '}'; }
bad_2() { put tests/a_test.c 'void a(int x) {' "$(long 59)" '}'; }
bad_3() { put README.md "$(long 151)"; }
bad_4() { put models/README.md "$(long 301)"; }
good() {
    put Makefile "$(long 150)"
    put models/README.md "$(long 300)"
    put sim/a.c 'static const int t[] = {' "$(long 99)" '};' \
        'void a(int x)' '{' "$(long 58)" '}' 'int b;' "$(long 70)"
}
. "$(dirname "$0")/gate.sh"
