#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# structs.sh - a struct has at most 45 fields; a header at most 40 prototypes,
# policies/policy.h, which is read first, at most 45.

# One line a struct or header: figure, kind, name.
measure() {
    # shellcheck disable=SC2046 # our file names hold no blanks
    set -- $(sources)
    [ $# -gt 0 ] || return 0
    awk "$STRIP_C"'
    function flush_file() {
        if (prototypes) print prototypes, "prototypes", file
    }
    # Fields of one declaration: its commas outside brackets, and one.
    function declarators(text,   i, c, depth, n) {
        n = 1
        for (i = 1; i <= length(text); i++) {
            c = substr(text, i, 1)
            if (c ~ /[(\[]/) depth++
            else if (c ~ /[)\]]/) depth--
            else if (c == "," && !depth) n++
        }
        return n
    }
    function close_statement() {
        if (!level && file ~ /\.h$/ && text ~ /\(/ && text !~ /typedef|=|_Static_assert/)
            prototypes++
        else if (level && name != "" && text ~ /[A-Za-z]/) fields += declarators(text)
        text = ""
    }
    FNR == 1 {
        flush_file()
        file = FILENAME; prototypes = level = inside = more = 0; name = text = ""
    }
    {
        line = strip_c($0)
        # A preprocessor line holds no field and no prototype.
        if (line ~ /^[ \t]*#/ || more) { more = (line ~ /\\$/); line = "" }
        for (i = 1; i <= length(line); i++) {
            c = substr(line, i, 1)
            if (c == "{") {
                if (!level && text ~ /^[ \t]*struct [a-z0-9_]+[ \t]*$/) {
                    split(text, word, " "); name = word[2]; fields = 0
                }
                level++; text = ""
            } else if (c == "}") {
                level--; text = ""
                if (!level && name != "") { print fields, "fields", name; name = "" }
            } else if (c == ";") close_statement()
            else text = text c
        }
        text = text " "
    }
    END { flush_file() }' "$@"
}

check() {
    measure | awk '
        $2 == "fields" && $1 > 45 { print $3 ": " $1 " fields, at most 45" }
        $2 == "prototypes" && $1 > ($3 == "policies/policy.h" ? 45 : 40) {
            print $3 ": " $1 " prototypes, at most " ($3 == "policies/policy.h" ? 45 : 40) }' |
        sort
}

lines() { awk -v n="$1" -v text="$2" 'BEGIN { while (n-- > 0) printf text "\n", n }'; }
bad_1() { put sim/a.h 'struct a {' "$(lines 23 '    int a%d, *b[2][3];')" '};'; }
bad_2() { put sim/a.h "$(lines 41 'int a%d(int (*f)(int, int));')"; }
bad_3() { put models/a.c 'struct a {' "$(lines 46 '    void (*f%d)(int a, int b);')" '};'; }
bad_4() { put policies/policy.h "$(lines 46 'int a%d(void);')"; }
good() {
    put sim/a.h 'struct a {' "$(lines 45 '    int a%d;     /* one, two; three */')" '};' \
        "$(lines 40 'int a%d(void);')" '#define X(a) b(a);' \
        'static inline int f(int x)' '{' "$(lines 50 '    g(x);')" '}'
    put sim/b.c "$(lines 50 'int a%d(void);')"
}
. "$(dirname "$0")/gate.sh"
