#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# include_circles.sh - no header includes itself, however far around.

check() {
    for f in $(sources); do
        sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$f" |
            while read -r to; do echo "$f $to"; done
    done | { tsort >/dev/null; } 2>&1
}

bad_1() { put sim/a.h '#include "sim/b.h"'; put sim/b.h '#include "sim/a.h"'; }
good() { put sim/a.h '#include "sim/b.h"'; put sim/b.h; put sim/b.c '#include "sim/b.h"'; }
. "$(dirname "$0")/gate.sh"
