#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# state.sh - no mutable file-scope, static or thread-local variable in the
# library.  Constant tables, relocated ones too, are fine.

# Lines "BYTES-IN-HEX OBJECT SECTION NAME" of what can be written to.
measure() {
    for object in $(objects); do
        objdump -t "$object" | awk -v object="$object" '
        {
            # value, flags (seven columns, blanks among them), section, size
            rest = substr($0, index($0, " ") + 9)
            split(rest, word, /[ \t]+/)
            section = word[1]
            # A section symbol carries no size of its own: ask for names only.
            if (section ~ /^(\.t?(data|bss)|\*COM\*)/ &&
                section !~ /^\.data\.rel\.ro/ && word[2] ~ /[1-9a-f]/)
                print word[2], object, section, word[3]
        }'
    done
}
check() { measure | awk '{ print $2 ": " $3 " holds " $4 }'; }

bad_1() { object sim/a.c 'static int n; int a(void) { return ++n; }'; }
bad_2() { object sim/a.c 'int a(void) { static int n = 3; return n++; }'; }
bad_3() { object sim/a.c '_Thread_local int n; int a(void) { return n++; }'; }
bad_4() { object sim/a.c 'int a(void); int (*hook)(void) = a;'; }
good() { object sim/a.c 'int f(void); int (*const t[])(void) = { f }; const char x[] = "x";'; }
. "$(dirname "$0")/gate.sh"
