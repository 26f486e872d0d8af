#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# layers.sh - includes never run up a floor; policies and workloads never
# meet; a policy includes headers of policies/ itself and harmless C headers,
# nothing else; the truth about jobs is out of a policy's reach.

HARMLESS='assert|float|inttypes|limits|math|stdbool|stddef|stdint|string'

check() {
    # shellcheck disable=SC2046 # our file names hold no blanks
    set -- $(sources)
    [ $# -gt 0 ] || return 0
    awk '
    BEGIN { floor["sim"] = 1; floor["models"] = 2; floor["policies"] = 3
            floor["workloads"] = 3; floor["experiments"] = 4
            floor["plots"] = 4 }
    function say(why) { print FILENAME ":" FNR ": " why ": " $0 }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, quoted, "\"")
        split(quoted[2], to, "/"); split(FILENAME, from, "/")
        if (!(to[1] in floor)) say("not written from the root")
        else if (system("test -f " quoted[2])) say("no such file")
        else if (floor[to[1]] > floor[from[1]]) say("runs up a floor")
        else if (floor[to[1]] == 3 && floor[from[1]] == 3 && to[1] != from[1])
            say("policies and workloads never meet")
    }' "$@"
    for f in $(files '^policies/.*\.c$' | grep -Ev '^policies/(clients|python)/'); do
        is_infra "$f" && continue
        grep -Hn '^[[:space:]]*#[[:space:]]*include' "$f" |
            grep -vE "\"policies/[a-z]+\.h\"|<($HARMLESS)\.h>" |
            sed 's/$/   (a policy includes policies\/NAME.h only)/'
    done
    for f in $(files '^policies/[a-z]+\.h$'); do
        gcc -MM -I. "$f" 2>/dev/null | tr -s ' ' '\n' |
            grep -E '^models/(.*/)?truth\.h$' | sed "s|^|$f reaches |"
    done
}

bad_1() { put models/a.h; put sim/a.c '#include "models/a.h"'; }
bad_2() { put workloads/a.h; put policies/host/host.c '#include "workloads/a.h"'; }
bad_3() { put policies/a.h; put workloads/a.c '#include "policies/a.h"'; }
bad_4() {
    put policies/policy.h
    put policies/a.c '#include "policies/policy.h"' '#include <stdio.h>'
}
bad_5() { put sim/a.h; put policies/a.c '# include "sim/a.h"'; }
bad_6() {
    put models/types/truth.h
    put models/jobs/job.h '#include "models/types/truth.h"'
    put policies/policy.h '#include "models/jobs/job.h"'
}
bad_7() { put sim/a.h; put sim/a.c '#include "a.h"'; }
bad_8() { put sim/a.c '#include "sim/absent.h"'; }
good() {
    put sim/a.h '#include <stdio.h>'
    put models/types/truth.h '#include "sim/a.h"'
    put policies/policy.h '#include "sim/a.h"'
    put policies/host/host.c '#include "models/types/truth.h"' '#include <stdlib.h>'
    put policies/ordering/fcfs.c '#include <math.h>' '' '#include "policies/policy.h"'
    put experiments/main.c '#include "policies/policy.h"'
}
. "$(dirname "$0")/gate.sh"
