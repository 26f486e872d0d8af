#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# check.sh - every gate of tests/gates: first that it can fail, then that it
# does not; two at a time.  `check.sh BUILD` (whose objects are looked at).
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh

one() {
    name=$(basename "$1" .sh)
    if "$1" --self-test; then passed; else failed "gate $name: self-test"; fi
    if "$1" "$2"; then
        passed
        echo "gate $name: holds"
    else
        failed "gate $name"
    fi
}

if [ "$1" = --one ]; then
    said=$(one "$3" "$2" 2>&1)      # in one piece
    printf '%s\n' "$said"
    exit
fi
for gate in tests/gates/*.sh; do
    [ "$gate" = tests/gates/gate.sh ] || echo "$gate"
done | xargs -P 2 -n 1 "$0" --one "$1"
echo "gates: $(count_sum)"
count_sum >/dev/null
