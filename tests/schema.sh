#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# schema.sh - `clustersim schema` before a stock validator: every YAML file of
# the tree is accepted, wrong ones are refused as `validate` refuses them.
# `schema.sh BUILD`; see schema.py.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh

mkdir -p build
/usr/bin/env python3 -c 'import jsonschema, yaml' 2>/dev/null || {
    echo "schema: python3-jsonschema and python3-yaml are missing"
    failed "schema: no validator"
    exit 1
}
count_lines schema build/schema.log python3 tests/schema.py "$1"
count_sum
