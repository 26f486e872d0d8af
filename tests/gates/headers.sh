#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# headers.sh - every header compiles alone and twice; policies/NAME.h, which
# others' programs include, also as C++.

FLAGS='-fsyntax-only -Wall -Wextra -Wpedantic -Werror -I. -D_POSIX_C_SOURCE=200809L'

check() {
    for h in $(sources | grep '\.h$'); do
        # shellcheck disable=SC2086 # a list of flags
        printf '#include "%s"\n#include "%s"\n' "$h" "$h" |
            gcc -std=c11 $FLAGS -x c - 2>&1 | sed -n "s|^|$h: |p"
    done
    # shellcheck disable=SC2086
    for f in $(files '^policies/[a-z]+\.h$'); do
        printf 'extern "C" {\n#include "%s"\n}\n' "$f" |
            g++ -std=c++17 $FLAGS -x c++ - 2>&1 | sed "s|^|$f as C++: |"
    done
}

bad_1() { put sim/a.h 'size_t a(void);'; }
bad_2() { put sim/a.h 'struct a { int x; };'; }
bad_3() { put policies/policy.h '#ifndef X' '#define X' 'int a(int class);' '#endif'; }
good() { put policies/policy.h '#ifndef X' '#define X' 'struct a { int x; };' '#endif'; }
. "$(dirname "$0")/gate.sh"
