#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# uses.sh - a file includes what it names: a function that it calls is declared
# in a header that the file, or the header of its own name, includes itself.
# What reaches it through a third file breaks when that one changes.  Policies
# stand on policies/policy.h alone and are left out.

# Lines "FILE FUNCTION HEADER": a name that came through a third file.
borrowed() {
    # shellcheck disable=SC2046 # our file names hold no blanks
    set -- $(sources | while read -r f; do
        case $f in policies/*.c) is_infra "$f" || continue ;; esac
        echo "$f"
    done)
    [ $# -gt 0 ] || return 0
    awk "$STRIP_C"'
    # A prototype at the top level of a header: the name before its bracket.
    function note_prototype(line) {
        if (level || line !~ /^[a-z].*[ *][a-z][a-z0-9_]*\(/ || line ~ /^typedef/) return
        sub(/\(.*/, "", line); sub(/.*[ *]/, "", line)
        if (line in home && home[line] != FILENAME) twice[line] = 1
        else home[line] = FILENAME
    }
    FNR == 1 { inside = level = 0; order[++files] = FILENAME }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, quoted, "\""); included[FILENAME, quoted[2]] = 1; next
    }
    {
        line = strip_c($0)
        if (FILENAME ~ /\.h$/) note_prototype(line)
        rest = line
        while (match(rest, /[a-z][a-z0-9_]*[ \t]*\(/)) {
            word = substr(rest, RSTART, RLENGTH); sub(/[ \t]*\(/, "", word)
            if (!level && line ~ /^[a-z]/ && rest == line) declared[FILENAME, word] = 1
            calls[FILENAME] = calls[FILENAME] " " word
            rest = substr(rest, RSTART + RLENGTH)
        }
        level += gsub(/\{/, "", line); level -= gsub(/\}/, "", line)
    }
    END {
        for (f = 1; f <= files; f++) {
            file = order[f]; own = file; sub(/\.c$/, ".h", own)
            count = split(calls[file], called, " ")
            for (i = 1; i <= count; i++) {
                name = called[i]
                if (!(name in home) || name in twice || (file, name) in told ||
                    (file, name) in declared) continue
                told[file, name] = 1
                to = home[name]
                if (to != file && to != own && !((file, to) in included) &&
                    !((own, to) in included)) print file, name, to
            }
        }
    }' "$@"
}

check() {
    borrowed | sort | awk '{ print $1 ": " $2 " is declared in " $3 ", include it" }'
}

bad_1() {
    put sim/a.h 'int a(void);'
    put sim/b.h '#include "sim/a.h"'
    put sim/c.c '#include "sim/b.h"' 'int c(void) { return a(); }'
}
bad_2() {   # the host is no policy
    put models/a.h 'struct b *a(int x,' '             int y);'
    put policies/host/host.c 'int b(void) { return a (1, 2) != 0; }'
}
good() {
    put sim/a.h 'int a(void);'
    put sim/b.h '#include "sim/a.h"' 'int b(void);'
    put sim/b.c '#include "sim/b.h"' 'int b(void) { return a(); }'
    put sim/c.c 'static int a(void); /* b(1) */' 'const char *c = "b(2)";'
    put policies/ordering/fcfs.c '#include "policies/policy.h"' 'int c(void) { return b(); }'
}
. "$(dirname "$0")/gate.sh"
