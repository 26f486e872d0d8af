#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# functions.sh - no function is longer than 60 lines, braces included, in the
# sources and in the tests.

check() {
    # shellcheck disable=SC2046
    set -- $(files '^(sim|models|policies|workloads|experiments|tests)/.*\.[ch]$')
    [ $# -gt 0 ] || return 0
    awk '
    FNR == 1 { open = 0 }
    /^\{/ || /^[a-z].*\) *\{$/ { open = FNR }
    /^\}/ {
        if (open && FNR - open + 1 > 60)
            print FILENAME ":" open ": function of " FNR - open + 1 " lines"
        open = 0
    }' "$@"
}

long() { awk -v n="$1" 'BEGIN { while (n-- > 0) print "    x++;" }'; }
bad_1() { put sim/a.c 'void a(int x)' '{' "$(long 59)" '}'; }
bad_2() { put tests/a_test.c 'void a(int x) {' "$(long 59)" '}'; }
good() {
    put sim/a.c 'static const int t[] = {' "$(long 99)" '};' \
        'void a(int x)' '{' "$(long 58)" '}' 'int b;' "$(long 70)"
}
. "$(dirname "$0")/gate.sh"
