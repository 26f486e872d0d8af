#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# schema.sh - `clustersim schema` before a stock validator: every YAML file of
# the tree is accepted, wrong ones are refused as `validate` refuses them.
# `schema.sh BUILD`; see schema.py.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh

log=build/schema.log
mkdir -p build
/usr/bin/env python3 -c 'import jsonschema, yaml' 2>/dev/null || {
    echo "schema: python3-jsonschema and python3-yaml are missing"
    failed "schema: no validator"
    exit 1
}
python3 tests/schema.py "$1" >"$log" || {
    tail -n 5 "$log"
    failed "schema: tests/schema.py ends with status $?"
}
while read -r verdict what; do
    if [ "$verdict" = ok ]; then
        passed
    else
        failed "schema: $what"
    fi
done <"$log"
count_sum
