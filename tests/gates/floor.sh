#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# floor.sh - every built-in policy is asked by a check of experiments/floor, against
# random order, or has a row with the reason in its README, and not both.

# The checks against random order, each as one line.
asked() {
    for file in $(files '^experiments/floor/.*\.yaml$'); do
        sed -n '/^expect:/,$p' "$file" | tr '\n' ' ' | tr '}' '\n' | tr -s ' '
    done | grep 'vs: random[, ]' | sed -n 's/.*[ {]policy: \([a-z0-9-]*\).*/\1/p' | sort -u
}

# Names in the first column of the table of those that are not asked.
excused() {
    sed -n '/^## Policies that are not asked/,/^## /s/^| \(`[^|]*`\) | [^| ][^|]*|$/\1/p' \
        experiments/floor/README.md 2>/dev/null |
        tr -c 'a-z0-9-' '\n' | grep . | sort -u
}

check() {
    def=$(files '/policies\.def$' | head -n 1)
    all=$(sed -n 's/^POLICY(\([a-z0-9_]*\))$/\1/p' "$def" | tr _ - | sort -u)
    asked=$(asked) excused=$(excused)
    for policy in $all; do
        yes=$(echo "$asked" | grep -cx -e "$policy") || :
        no=$(echo "$excused" | grep -cx -e "$policy") || :
        [ $((yes + no)) -ne 0 ] ||
            echo "experiments/floor: $policy has no check against random, and no row with a reason"
        [ $((yes + no)) -ne 2 ] ||
            echo "experiments/floor/README.md: $policy has a check and need not be excused"
    done
    for policy in $excused; do
        echo "$all" | grep -qx -e "$policy" ||
            echo "experiments/floor/README.md: $policy is no policy of the list"
    done
}

tree() {
    put policies/registry/policies.def 'POLICY(sjf)' 'POLICY(fair_share)' 'POLICY(fcfs)'
    put experiments/floor/a.yaml 'policies: [sjf, fair-share]' 'expect:' \
        '  - {claim: sjf, metric: x, policy: sjf, vs: random, at_most: 0%}' \
        '  - {claim: fair, metric: x, policy: fair-share,' "     vs: ${1:-random}, at_most: 0%}"
    put experiments/floor/README.md '## Policies that are not asked, and why' '' \
        '| policy | reason |' '|---|---|' "${2:-| \`fcfs\` | it promises nothing |}"
}
bad_1() { tree random '| `fcfs` | |'; }
bad_2() { tree sjf; }
bad_3() { tree random '| `fcfs`, `sjf` | they promise nothing |'; }
bad_4() { tree random '| `fcfs`, `lifo` | they promise nothing |'; }
good() { tree; }
. "$(dirname "$0")/gate.sh"
