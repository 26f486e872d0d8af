#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# call_circles.sh - files of the library use each other in one direction: if a
# uses what b defines, b uses nothing, however far around, that a defines.
# What must go up goes through a pointer given from above.

check() {
    objects | xargs -r nm -A -g | awk '
    {
        n = split($0, part, ":"); file = part[n - 1]
        k = split(part[n], word, " "); type = word[k - 1]; symbol = word[k]
        if (type == "U") { users[++uses] = file; used[uses] = symbol }
        else if (type ~ /[TDBRC]/) home[symbol] = file
    }
    END {
        for (i = 1; i <= uses; i++)
            if (used[i] in home && home[used[i]] != users[i])
                print users[i], home[used[i]]
    }' | sort -u | { tsort >/dev/null; } 2>&1
}

bad_1() {
    object sim/a.c 'int b(void); int a(void) { return b(); } int c(void) { return 1; }'
    object sim/b.c 'int c(void); int b(void) { return c(); }'
}
bad_2() {   # a table is an arrow like a call, and so is a longer way round
    object sim/a.c 'extern int (*const t[1])(void); int a(void) { return t[0](); }'
    object sim/b.c 'int d(void); int (*const t[1])(void) = { d };'
    object models/d.c 'int a(void); int d(void) { return a(); }'
}
good() {
    object sim/a.c 'int b(void); int a(void) { return b(); }'
    object sim/b.c 'int c(void); int b(void) { return c(); }'
    object sim/c.c 'int c(void) { return 1; }'
}
. "$(dirname "$0")/gate.sh"
