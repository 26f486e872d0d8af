#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# parts.sh - a change of one part of the host is a change of few files: a header of
# policies/host, leases, nodes or state reaches at most 15 objects.  What all of the host, or all
# trials, must know is left out: the faces host.h and policy.h, the list of parts (state.h)
# and the terms of trials (terms.h).

FACES='policies/(.*/)?(host/(.*/)?host|state/(.*/)?(state|terms))\.h'

# Lines "OBJECTS HEADER", by the lists of dependences that the compiler wrote.  What an older
# build left of a source that is gone does not count.
measure() {
    {
        find policies sim models workloads experiments -name '*.c' 2>/dev/null | sed 's/^/here /'
        find "$build" -type f -name '*.d' ! -path "$build/tests/*" \
            ! -path "$build/asan/*" ! -path "$build/tsan/*" \
            ! -path "$build/mutation/*" -exec cat {} +
    } | awk '
        $1 == "here" { here[$2] = 1; next }
        /^[^:]*: *[^ ]/ { counts = $2 in here }
        counts && (/^ / || /^[^:]*: *[^ ]/) {
            for (i = 1; i <= NF; i++)
                if ($i ~ /^policies\/(host|leases|nodes|state)\/.*\.h$/) n[$i]++
        }
        END { for (name in n) print n[name], name }'
}

check() {
    measure | grep -vE " $FACES\$" | awk '
        $1 > 15 { print $2 ": " $1 " objects are made again where it changes" }' | sort
}

# reach HEADER COUNT: COUNT objects name it.
reach() {
    mkdir -p build policies
    header=$(echo "$1" | place)
    for i in $(seq "$2"); do
        : >"policies/a$i.c"
        echo "build/policies/a$i.o: policies/a$i.c $header" >"build/a$i.d"
    done
}
bad_1() { reach policies/state/queue.h 16; }
bad_2() { reach policies/leases/lease.h 20; }
good() {
    reach policies/state/queue.h 15
    for i in $(seq 30); do
        : >"policies/b$i.c"
        echo "build/policies/b$i.o: policies/b$i.c policies/state/state.h" >"build/b$i.d"
        echo "build/policies/gone$i.o: policies/gone$i.c policies/state/read.h" >"build/c$i.d"
    done
}
. "$(dirname "$0")/gate.sh"
