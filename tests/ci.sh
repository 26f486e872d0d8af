#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ci.sh - the CI kit as a user has it: `ci.sh BUILD`.  The scripts of
# experiments/ci/github.yml and gitlab.yml run in a git repository that holds an
# experiment, a policy and a baseline; the policy is changed, and the gate turns red;
# what they write is read as the CI systems read it.  See ci.py.
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$count_file"' EXIT

python3 -c 'import jsonschema, yaml' 2>/dev/null || {
    failed 'ci: python3-jsonschema and python3-yaml are missing'
    exit 1
}
status=0
python3 tests/ci.py "$build" "$scratch" >"$scratch/log" 2>&1 || status=$?
[ "$status" = 0 ] || { tail -n 20 "$scratch/log"; failed "ci: tests/ci.py ends with $status"; }
while read -r verdict what; do
    case $verdict in
    ok) passed ;;
    not-ok) failed "ci: $what" ;;
    esac
done <"$scratch/log"
count_sum
