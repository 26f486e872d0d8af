#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# times.sh - times are added by clock_after alone, and rounded to a period by
# clock_tick_from and clock_tick_after: a sum that runs over is a time before
# now, and ends the program.  A time is what is called now or ..._ns, and what
# a function of such a name gives.  One that is cast to double or to a wide or
# unsigned type is none, nor is a count; the bench adds what no input reaches.

check() {
    for f in $(sources | grep -v '^sim/base/clock\.[ch]$'); do
        awk -v f="$f" '
        { text = text $0 " " }
        function is_time(word) {
            gsub(/^[(&*!-]+/, "", word)
            if (word ~ /@/ || word ~ /(^|_|>)per_ns$/)
                return 0
            return word ~ /_ns#?$/ || word ~ /^now$|_now$/
        }
        # Sums in a text without parentheses.
        function look(s,    w, n, i) {
            gsub(/\[[^][]*\]/, "#", s)
            n = split(s, w, / +/)
            for (i = 2; i < n; i++)
                if ((w[i] == "+" || w[i] == "+=") &&
                    !(w[i] == "+=" && s ~ / [!=<>]= /) && w[i + 1] !~ /@/ &&
                    ((is_time(w[i - 1]) && !(w[i] == "+=" && w[i - 1] == "now")) ||
                     is_time(w[i + 1])))
                    print f ": adds times without clock_after: " w[i - 1] \
                        " " w[i] " " w[i + 1]
        }
        # The innermost parentheses are looked at, and become one word.
        function fold(s,    whole, name, inside, word) {
            while (match(s, /[A-Za-z0-9_]*\([^()]*\)/)) {
                whole = substr(s, RSTART, RLENGTH)
                name = substr(whole, 1, index(whole, "(") - 1)
                inside = substr(whole, length(name) + 2)
                sub(/\)$/, "", inside)
                word = "f"
                if (name == "" && inside == "int64_t")
                    word = ""
                else if (name == "UINT64_C" || (name == "" && inside ~ \
                         /^(double|wide|wide_ns|u?int[0-9]*_t)$|@/))
                    word = "@"
                else if (name ~ /_ns(_for_work)?$|_now$/ &&
                         name !~ /_s_from_ns$/)
                    word = "t_ns"
                else if (name == "" && inside !~ /[!=<>] |,/ &&
                         is_time(last(inside)))
                    word = "t_ns"
                look(inside)
                s = substr(s, 1, RSTART - 1) word substr(s, RSTART + RLENGTH)
            }
            look(s)
        }
        function last(s,    w, n) { n = split(s, w, / +/); return w[n] }
        END {
            while ((from = index(text, "/*")) > 0) {
                rest = substr(text, from + 2)
                text = substr(text, 1, from - 1) " " \
                       substr(rest, index(rest, "*/") + 2)
            }
            count = split(text, part, /[;{}]/)
            for (i = 1; i <= count; i++)
                if (part[i] ~ /[+]/) {
                    gsub(/[,?:]/, " , ", part[i])
                    fold(part[i] " ")
                }
        }' "$f"
    done
}

bad_1() { put sim/a.c 'int64_t f(int64_t a_ns) { return a_ns + 1; }'; }
bad_2() { put policies/a.c 'void f(void) { x = cs_now_ns(host) +' '    quantum; }'; }
bad_3() { put models/a.c 'void f(void) { x->wait_ns += y; }'; }
bad_4() { put models/a.c 'void f(void) { x += y->wait_ns; }'; }
bad_5() { put policies/a.c 'void f(void) { x = (now / q_ns + 1) * q; }'; }
bad_6() { put experiments/a.c 'void f(void) { g(now + step); }'; }
bad_7() { put policies/a.c 'void f(void) { x = host_now(host) + ns; }'; }
bad_8() { put workloads/a.c 'void f(void) { x = base + trace->row[i].gap_ns; }'; }
bad_9() { put sim/a.c 'void f(void) { x = base + clock_ns_for_work(w, 1.0); }'; }
good() {
    put sim/a.c '/* a_ns + b_ns */' \
        'void f(void) { x_ns = clock_after(a_ns, b_ns); }' \
        'void g(void) { area_ns += (wide_ns)n * (now - since_ns); }'
}
. "$(dirname "$0")/gate.sh"
