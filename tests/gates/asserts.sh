#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# asserts.sh - the code says what must hold: in sim, in models and in the host there are as
# many assertions as functions.  What a user or a plug-in gives is no matter of assertions.

# Prints assertions and functions of the files that match.
count() {
    # shellcheck disable=SC2046
    set -- $(files "^($1)/.*\\.[ch]\$")
    awk '
        /^\{/ || /^[a-z].*\) *\{$/ { open = 1 }
        /^\}/ { functions += open; open = 0 }
        { line = $0; stated += gsub(/(^|[^_A-Za-z])assert\(/, "", line) }
        END { print stated + 0, functions + 0 }' /dev/null "$@"
}

# Lines "ASSERTIONS FUNCTIONS WHERE".
measure() {
    echo "$(count sim) sim"
    echo "$(count models) models"
    echo "$(count 'policies/(.*/)?(host|leases|nodes|state)') host"
}

check() {
    measure | awk '$1 < $2 { print $3 ": " $1 " assertions in " $2 " functions" }'
}

bad_1() { put sim/a.c 'int a(void)' '{' '    return 1;' '}'; }
bad_2() { put models/a.c 'void a(void) {' '    static_assert(1);' '}'; }
bad_3() { put policies/state/a.c 'void a(void)' '{' '}' 'void b(void)' '{' '    assert(1);' '}'; }
good() {
    put sim/a.c 'void a(void)' '{' '    assert(1);' '    assert(2);' '}' 'void b(void)' '{' '}'
    put policies/fcfs.c 'void a(void)' '{' '}'
}
. "$(dirname "$0")/gate.sh"
