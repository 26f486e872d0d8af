#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# python.sh - the Python package.  `python.sh BUILD`:
#
#   plain  its tests with the machine's python3 and nothing else, the module built in place
#   wheel  a wheel, built without a network; its tests where it is installed, unless `index`
#          runs them
#   index  the tests by pytest in a new environment with the wheel, pandas, matplotlib and
#          gymnasium, where a package index is reached; with stable-baselines3 and sb3-contrib,
#          too, if CLUSTERSIM_PPO is set; without those that no package changes, if `plain`
#          ran them
#
# A part that cannot run here says "skip: ..." and why.  The blocks of its chapters are
# tests of their own (tests/test_readme.py there).
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$count_file"' EXIT
export PYTHONDONTWRITEBYTECODE=1 PIP_ROOT_USER_ACTION=ignore
python=$(command -v /usr/bin/python3 || command -v python3)
TESTS_MIN=60            # fewer: something kept them from being found
RAN_ALREADY='--ignore=tests/test_faults.py --deselect=tests/test_experiment.py::Shipped
--deselect=tests/test_env.py::ExampleTest'

skip() { echo "skip: python $1: $2"; }

# Counts what unittest -v wrote to FILE: count_tests NAME STATUS FILE.
count_tests() {
    grep -E ' \.\.\. (ok|FAIL|ERROR|skipped)' "$3" >"$scratch/verdicts" || true
    sed -n 's/^.* \.\.\. ok$/1 0/p' "$scratch/verdicts" >>"$COUNTS"
    if [ "$2" != 0 ]; then
        sed 's/^/    | /' "$3"
        failed "python $1: the tests end with status $2"
    elif [ "$(wc -l <"$scratch/verdicts")" -lt $TESTS_MIN ]; then
        sed 's/^/    | /' "$3"
        failed "python $1: fewer than $TESTS_MIN tests"
    fi
    echo "python $1: $(grep -c 'ok$' "$scratch/verdicts" || true) tests ok"
}

# The tests, in a folder where no checkout lies: run_tests NAME PYTHON PATH.
run_tests() {
    status=0
    (cd "$scratch" && PYTHONPATH=$3 "$2" -m unittest discover -v -s "$scratch/tests" \
        >"$scratch/log" 2>&1) || status=$?
    count_tests "$1" $status "$scratch/log"
}

# Without a compiled module the tests of policies in Python skip, and say so.
test_plain() {
    cp -r policies/python "$scratch/plain"
    (cd "$scratch/plain" && CLUSTERSIM_BUILD=$build "$python" setup.py -q build_ext --inplace) \
        >"$scratch/log" 2>&1 || {
        sed 's/^/    | /' "$scratch/log"
        skip module "it cannot be built here: setuptools or python3-dev is missing"
    }
    run_tests plain "$python" "$scratch/plain"
    already=$RAN_ALREADY
}

# A wheel of the package with this program in it: make_wheel PYTHON.
make_wheel() {
    rm -rf "$scratch/source" "$scratch/wheels"
    cp -r policies/python "$scratch/source"
    CLUSTERSIM=$build/clustersim CLUSTERSIM_BUILD=$build PIP_NO_INDEX=1 "$1" -m pip wheel -q \
        --no-deps --no-build-isolation -w "$scratch/wheels" "$scratch/source" \
        >"$scratch/log" 2>&1 || {
        sed 's/^/    | /' "$scratch/log"
        failed "python wheel: it cannot be built"
        return 1
    }
}

test_wheel() {
    make_wheel "$python" || return 0
    "$python" -m zipfile -l "$scratch"/wheels/clustersim-*-linux_*.whl >"$scratch/files"
    if grep -q '^clustersim/bin/clustersim ' "$scratch/files"; then
        passed
        echo "python wheel: it has the program"
    else
        failed "python wheel: no program in it"
    fi
}

# The tests with the wheel alone, of which test_index() would run more.
test_installed() {
    "$python" -m pip install -q --no-index --no-deps --target "$scratch/installed" \
        "$scratch"/wheels/*.whl
    unset CLUSTERSIM            # the program of the wheel
    run_tests wheel "$python" "$scratch/installed"
}

test_index() {
    more=
    if [ -n "${CLUSTERSIM_PPO:-}" ]; then
        more='stable-baselines3 sb3-contrib'
    else
        skip ppo 'CLUSTERSIM_PPO is not set: torch and what it needs take 5 GB'
    fi
    "$python" -m venv "$scratch/venv" >"$scratch/log" 2>&1 ||
        { skip index 'python3 -m venv does not work'; return 1; }
    venv=$scratch/venv/bin/python
    timeout 300 "$venv" -m pip install -q --retries 0 pandas matplotlib pytest gymnasium \
        setuptools wheel $more >"$scratch/log" 2>&1 ||
        { skip index 'no package index is reached'; return 1; }
    make_wheel "$venv" || return 0
    unset CLUSTERSIM
    (cd "$scratch" && "$venv" -m pip install -q --no-index --no-deps wheels/*.whl &&
        "$venv" -m pytest -q -p no:cacheprovider $already tests) >"$scratch/log" 2>&1 || {
        sed 's/^/    | /' "$scratch/log"
        failed 'python index: pytest'
        return 0
    }
    count=$(sed -n '$s/^\([0-9]*\) passed.*/\1/p' "$scratch/log")
    if [ "${count:-0}" -lt $TESTS_MIN ]; then
        failed "python index: fewer than $TESTS_MIN tests"
    else
        echo "$count 0" >>"$COUNTS"
    fi
    echo "python index: pytest: $(tail -n 1 "$scratch/log")"
}

cp -r policies/python/tests "$scratch/tests"
cp -r policies/python/examples policies/python/core "$scratch"
cp policies/python/README.md "$scratch/README.md"
mkdir "$scratch/clustersim"
cp policies/python/clustersim/README.md "$scratch/clustersim/README.md"
# Experiments that must come back from Python as they are.
mkdir "$scratch/tree"
cp -r experiments models workloads policies "$scratch/tree"
export CLUSTERSIM=$build/clustersim CLUSTERSIM_TREE="$scratch/tree"
already=
test_plain
wheel=
if "$python" -m pip --version >/dev/null 2>&1 &&
    "$python" -c 'import setuptools, wheel' 2>/dev/null; then
    wheel=yes
    test_wheel
else
    skip wheel 'pip, setuptools or wheel is missing'
fi
test_index || [ -z "$wheel" ] || test_installed
echo "python: $(count_sum)"
count_sum >/dev/null
