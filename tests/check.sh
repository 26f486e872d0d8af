#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# check.sh - every gate of tests/gates: first that it can fail, then that it
# does not.  `check.sh BUILD` (whose objects are looked at).
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh

for gate in tests/gates/*.sh; do
    name=$(basename "$gate" .sh)
    [ "$name" != gate ] || continue
    if "$gate" --self-test; then passed; else failed "gate $name: self-test"; fi
    if "$gate" "$1"; then
        passed
        echo "gate $name: holds"
    else
        failed "gate $name"
    fi
done
echo "gates: $(count_sum)"
count_sum >/dev/null
