#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# messages.sh - errors read alike: telegram style for err_set (no capital
# first unless a word is all capitals, no full stop last, "unrecognized X"
# and what was allowed rather than a bare "invalid"), whole sentences for
# err_hint (which may end in ": EXAMPLE").  Only literal formats can be looked at.

check() {
    # shellcheck disable=SC2046
    set -- $(sources | grep '\.c$')
    [ $# -gt 0 ] || return 0
    awk '
    # The format: the first run of adjacent string literals of a call.
    function format(call,   out, quote) {
        gsub(/PRI[a-z][A-Za-z0-9]*/, "", call)
        quote = index(call, "\"")
        if (!quote) return ""
        call = substr(call, quote)
        while (match(call, /^"([^"\\]|\\.)*"[ \t]*/)) {
            out = out substr(call, 2, RLENGTH - 2)
            sub(/"[ \t]*$/, "", out)
            call = substr(call, RLENGTH + 1)
        }
        sub(/"[ \t]*$/, "", out)
        return out
    }
    function judge(call, at,   text) {
        text = format(call)
        if (text == "") return
        if (call ~ /err_hint/) {
            if (text ~ /^[a-z]/ || text !~ /([.?!]|%s|: .*)$/)
                say(at, "a hint is a whole sentence", text)
            return
        }
        if (text ~ /^[A-Z][a-z]/) say(at, "begins with a capital", text)
        if (text ~ /[^.]\.$/) say(at, "ends with a full stop", text)
        text = " " text " "
        if (text ~ /[^a-z](illegal|unable|bad)[^a-z]/)
            say(at, "vague word", text)
        if (text ~ /[^a-z](invalid|unknown)[^a-z]/ && text !~ /%/)
            say(at, "names no value", text)
    }
    function say(at, why, text) { print FILENAME ":" at ": " why ": " text }
    FNR == 1 { call = "" }
    call == "" && match($0, /err_(set|hint)\(/) {
        call = substr($0, RSTART); at = FNR; add = 0
    }
    call != "" {
        if (add++) { line = $0; sub(/^[ \t]+/, "", line); call = call line }
        if (call ~ /;[ \t]*(\/\*.*)?$/) { judge(call, at); call = "" }
    }' "$@"
}

bad_1() { put sim/a.c 'return err_set(err, ERR_IO, pos, "Could not open %s", p);'; }
bad_2() { put sim/a.c 'return err_set(err, ERR_IO, pos, "could not "' '    "open.");'; }
bad_3() { put sim/a.c 'err_hint(err, "use another");'; }
bad_4() { put sim/a.c 'err_set(err, ERR_IO, pos,' '        "invalid key");'; }
bad_5() { put sim/a.c 'err_set(err, ERR_IO, pos, "line %" PRIu64' '    " is over.", n);'; }
good() {
    put sim/a.c 'err_set(err, ERR_IO, pos, "%s: invalid time \"%s\", write 5s ...", k, v);' \
        'err_hint(err, "Write it with a unit.");' 'err_set(e, K, p, "YAML ends early");' \
        'err_set(e, K, p, "size %" PRIu64 " is over %d", n, m);' 'err_set(e, K, p, text);'
}
. "$(dirname "$0")/gate.sh"
