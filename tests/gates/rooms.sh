#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# rooms.sh - a folder below a floor is a room.  Rooms form no circle, by
# includes or by symbols; a room holds at most 40 files of C, one of tests too;
# its README.md names the headers that others may include (`Face:`) and the
# rooms that it uses (`Uses:`).

ROOM_FILES_MAX=40

# Lines "FROM TO": file FROM includes or calls file TO.
file_edges() {
    # shellcheck disable=SC2046 # our file names hold no blanks
    set -- $(sources; files "^$FLOORS/.*\\.def\$")
    [ $# -eq 0 ] || awk '/^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, quoted, "\""); print FILENAME, quoted[2] }' "$@"
    # shellcheck disable=SC2046
    set -- $(objects)
    [ $# -eq 0 ] || nm -gA "$@" | sed "s|^$build/||; s|\.o:|.c |" | awk '
        $2 == "U" { wanted[$3] = wanted[$3] " " $1 }
        $3 ~ /^[TDBRC]$/ { home[$4] = $1 }
        END {
            for (name in wanted)
                if (name in home) {
                    n = split(wanted[name], from, " ")
                    while (n > 0) print from[n--], home[name]
                }
        }'
}

# Lines "FROM TO" of rooms, each once.
room_edges() {
    file_edges | awk '{
        sub("/[^/]*$", "", $1); sub("/[^/]*$", "", $2)
        if ($1 != $2) print $1, $2 }' | sort -u
}

# The names in backquotes of one paragraph's line: named README Face
named() {
    awk -v head="$2:" '
        $0 == "" || /^[A-Z][a-z]+:/ { on = 0 }
        index($0, head) == 1 { on = 1 }
        on { n = split($0, part, "`"); for (i = 2; i <= n; i += 2) print part[i] }' \
        "$1" 2>/dev/null
}

# Lines "FILES ROOM"; tests lie in rooms, too, which need no Face.
measure() {
    { sources; files '^tests/.*\.[ch]$'; } | awk '
        { sub("/[^/]*$", ""); count[$0]++ }
        END { for (room in count) print count[room], room }'
}

rooms() { sources | sed -n 's|/[^/]*$||; \|/|p' | sort -u; }

check() {
    edges=$(mktemp)
    room_edges >"$edges"
    tsort "$edges" 2>&1 >/dev/null | sed 's/^tsort: /a circle of rooms: /'
    measure | awk -v max=$ROOM_FILES_MAX '
        $1 > max { print $2 ": " $1 " files, at most " max }'
    file_edges | sort -u >"$edges.files"
    for room in $(rooms); do
        [ -f "$room/README.md" ] || { echo "$room: has no README.md"; continue; }
        named "$room/README.md" Face | sort -u >"$edges.face"
        awk -v room="$room" '
            { from = $1; to = $2; sub("/[^/]*$", "", from); sub("/[^/]*$", "", to) }
            from != room && to == room && $2 !~ /\.c$/ {
                sub(".*/", "", $2); print $2 }' "$edges.files" |
            sort -u | comm -3 - "$edges.face" |
            awk -F '\t' -v room="$room" '$1 != "" {
                    print room "/" $1 ": included from outside, not in Face: of its README.md" }
                $1 == "" { print room "/README.md: " $2 " is a face that no other room includes" }'
        named "$room/README.md" Uses | sort -u >"$edges.uses"
        sed -n "s|^$room ||p" "$edges" | sort -u | comm -3 - "$edges.uses" |
            awk -F '\t' -v room="$room" '
                $1 != "" { print room ": uses " $1 ", not in Uses: of its README.md" }
                $1 == "" { print room "/README.md: " $2 " is not used" }'
    done
    rm -f "$edges" "$edges".*
}

readme() { put "$1/README.md" "$2" "$3"; }
pair() {
    readme sim/a "Face: \`a.h\`." "Uses: \`sim/b\`."
    readme sim/b "Face: \`b.h\`." "Uses: no other room."
    put sim/a/a.h '#include "sim/b/b.h"'
    put sim/b/b.h
    readme experiments/c "Uses: \`sim/a\`."
    put experiments/c/c.c '#include "sim/a/a.h"'
}
bad_1() {
    pair
    readme sim/b "Face: \`b.h\`." "Uses: \`sim/a\`."
    put sim/b/b.h '#include "sim/a/a.h"'
}
bad_2() {   # a circle that only symbols show
    pair
    readme sim/b "Face: \`b.h\`." "Uses: \`sim/a\`."
    object sim/a/a.c 'int b(void);' 'int a(void) { return b(); }'
    object sim/b/b.c 'int a(void);' 'int b(void) { return a(); }'
}
bad_3() {
    pair
    i=0
    while [ $i -le 40 ]; do put "sim/b/f$i.c"; i=$((i + 1)); done
}
bad_4() { pair; put sim/b/own.h; put sim/a/a.h '#include "sim/b/b.h"' '#include "sim/b/own.h"'; }
bad_5() { pair; readme sim/a "Face: \`a.h\`." "Uses: no other room."; }
bad_6() { pair; rm sim/b/README.md; }
bad_7() { pair; readme sim/b "Face: \`b.h\`," "\`gone.h\`."; }
bad_8() { i=0; while [ $i -le 40 ]; do put "tests/f${i}_test.c"; i=$((i + 1)); done; }
good() { pair; object sim/b/b.c '#include "sim/b/b.h"' 'int b(void) { return 1; }'; }
. "$(dirname "$0")/gate.sh"
