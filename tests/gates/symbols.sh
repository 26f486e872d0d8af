#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# symbols.sh - the library defines each name once: of two functions of one
# name in an archive the linker takes the first that it meets, and says nothing.

check() {
    objects | xargs -r nm -A -g | awk '
    {
        n = split($0, part, ":"); file = part[n - 1]
        k = split(part[n], word, " ")
        if (word[k - 1] !~ /[TDBRC]/) next
        if (word[k] in home) print file ": " word[k] " is also in " home[word[k]]
        else home[word[k]] = file
    }'
}

bad_1() {
    object sim/a.c 'int f(void) { return 1; }'
    object models/a.c 'int f(int x) { return x; }'
}
bad_2() { object sim/a.c 'const int t[2];'; object sim/b.c 'int t(void) { return 1; }'; }
good() {
    object sim/a.c 'static int f(void) { return 1; } int a(void) { return f(); }'
    object sim/b.c 'static int f(void) { return 2; } int b(void) { return f(); }'
}
. "$(dirname "$0")/gate.sh"
