#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# lists.sh - one list for each kind of thing: what `clustersim list` shows is
# named by one file, so that one line adds another one.  A file is a list of a
# kind if it names three of five of its members, by their names or, of
# metrics, by their constants.  lists.left holds how many lists a kind had when
# the gate came: the figures may only fall, to 1 where a kind is not there.

LEFT=tests/gates/lists.left
KINDS='policies gpus cpus links models prices instances formats metrics recipes'

# Lines "KIND NAME" of all there is, and "figures NAME" of the charts.
members() {
    for kind in $KINDS; do
        "$build/clustersim" list "$kind" 2>/dev/null |
            sed -n 's/^\([a-z0-9][a-z0-9_.+-]*\) .*/\1/p' |
            grep -vxE 'name|in' | sort -u | sed "s/^/$kind /"
    done
    files '^plots/.*\.gp$' | sed -n 's|.*/\([a-z_]*\)\.gp$|figures \1|p' |
        grep -vx 'figures style'
}

check() {
    table=$(mktemp)
    members >"$table"
    # shellcheck disable=SC2046 # our file names hold no blanks
    set -- $(sources) $(files "^$FLOORS/.*\\.def\$|^models/catalogue/.*\\.yaml\$")
    awk -v list="$LEFT" -v table="$table" '
    BEGIN {
        while ((getline line < table) > 0) {
            split(line, word, " ")
            all[word[1]]++; of[word[2]] = of[word[2]] " " word[1]
        }
        while ((getline line < list) > 0)
            if (line !~ /^#/) { split(line, word, " "); left[word[2]] = word[1] }
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
        for (kind in all) {
            most = kind in left ? left[kind] : 1
            if (lists[kind] + 0 > most)
                print kind ": " lists[kind] " lists, at most " most ":" where[kind]
            else if (lists[kind] + 0 < most && most > 1)
                print kind ": " lists[kind] + 0 " lists: write that to " list
        }
    }' "$@" </dev/null | sort
    rm -f "$table"
}

# A program that lists ten formats, and a file that names the first N of them.
fake() {
    mkdir -p build
    printf '#!/bin/sh\n[ "$2" != formats ] || for i in a b c d e f g h i j; do\n' \
        >build/clustersim
    printf 'echo "form-$i  text"; done\n' >>build/clustersim
    chmod +x build/clustersim
}
named() { echo a b c d e f g h i j | tr ' ' '\n' | head -n "$1" | sed 's/.*/"form-&",/'; }
bad_1() { fake; put workloads/a.c "$(named 10)"; put experiments/b.c "$(named 7)"; }
bad_2() { fake; put sim/a.def "$(named 9)"; put sim/b.h "$(named 9)"; }
bad_3() { put plots/a.gp; put plots/b.gp; put sim/a.c '"a", "b"'; put sim/b.c '"a", "b"'; }
good() { fake; put workloads/a.c "$(named 10)"; put experiments/b.c "$(named 5)"; }
. "$(dirname "$0")/gate.sh"
