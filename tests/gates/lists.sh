#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# lists.sh - one list for each kind of thing: what `clustersim list` shows, and
# the charts of plots/, are named by one file, so that one line adds another one.
# A file is a list of a kind if it names three of five of its members, by their
# names or, of metrics, by their constants.

KINDS='policies gpus cpus links models prices instances formats metrics recipes'

# Lines "KIND NAME" of all there is, and "figures NAME" of the charts; the policy
# `static` is left out, since C says it too.
members() {
    for kind in $KINDS; do
        "$build/clustersim" list "$kind" 2>/dev/null |
            sed -n 's/^\([a-z0-9][a-z0-9_.+-]*\) .*/\1/p' |
            grep -vxE 'name|in|static' | sort -u | sed "s/^/$kind /"
    done
    files '^plots/.*\.gp$' | sed -n 's|.*/\([a-z_]*\)\.gp$|figures \1|p' |
        grep -vx 'figures style'
}

check() {
    table=$(mktemp)
    members >"$table"
    # shellcheck disable=SC2046 # our file names hold no blanks
    set -- $(sources) $(files "^$FLOORS/.*\\.def\$|^models/catalogue/.*\\.yaml\$")
    awk -v table="$table" '
    BEGIN {
        while ((getline line < table) > 0) {
            split(line, word, " ")
            all[word[1]]++; of[word[2]] = of[word[2]] " " word[1]
        }
    }
    # `form`: names and constants of a kind are counted apart.
    function note(name, kind, form) {
        if (!((FILENAME, kind, name) in met)) {
            met[FILENAME, kind, name] = 1
            if (++count[FILENAME, kind, form] == int(0.6 * all[kind]) + 1) {
                lists[kind]++; where[kind] = where[kind] " " FILENAME
            }
        }
    }
    {
        n = split($0, token, /[^A-Za-z0-9_.+-]+/)
        for (i = 1; i <= n; i++) {
            if (token[i] in of) {
                k = split(of[token[i]], kinds, " ")
                while (k > 0) note(token[i], kinds[k--], "name")
            } else if (token[i] ~ /^METRIC_/ && all["metrics"])
                note(token[i], "metrics", "constant")
        }
    }
    END {
        for (kind in lists)
            if (lists[kind] > 1)
                print kind ": " lists[kind] " lists:" where[kind]
    }' "$@" </dev/null | sort
    rm -f "$table"
}

# A program that lists ten formats and ten metrics; the first N of the formats,
# and of the constants of metrics.
fake() {
    mkdir -p build
    printf '#!/bin/sh\ncase $2 in formats|metrics)\nfor i in %s; do\n' \
        'a b c d e f g h i j' >build/clustersim
    printf 'echo "${2%%%%s}-$i  text"; done ;; esac\n' >>build/clustersim
    chmod +x build/clustersim
}
letters() { echo a b c d e f g h i j | tr ' ' '\n' | head -n "$1"; }
named() { letters "$1" | sed 's/.*/"format-&",/'; }
constants() { letters "$1" | tr a-j A-J | sed 's/.*/METRIC_&,/'; }
bad_1() { fake; put workloads/a.c "$(named 10)"; put experiments/b.c "$(named 7)"; }
bad_2() { fake; put sim/a.def "$(named 9)"; put sim/b.h "$(named 9)"; }
bad_3() { put plots/a.gp; put plots/b.gp; put sim/a.c '"a", "b"'; put sim/b.c '"a", "b"'; }
bad_4() { fake; put sim/a.c "$(constants 10)"; put sim/b.h "$(constants 8)"; }
good() {
    fake
    put workloads/a.c "$(named 10)" "$(constants 5)"
    put experiments/b.c "$(named 5)" "$(constants 10)"
}
. "$(dirname "$0")/gate.sh"
