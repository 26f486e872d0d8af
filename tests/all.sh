#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# all.sh - everything that CI checks, stage by stage; a stage that fails does
# not keep the later ones from running.  The last line adds up: N passed, M
# failed, over all cmocka tests, gates, blocks and comparisons.
set -u
cd "$(dirname "$0")/.." || exit 1
mkdir -p build
COUNTS=$PWD/build/counts
export COUNTS
: >"$COUNTS"
# The settings of a make above are not ours.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES
export UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
# Two callers are enough to find who took memory, and less freed memory is kept for a look.
export ASAN_OPTIONS=malloc_context_size=2:quarantine_size_mb=32
# Hundreds of programs in Python are started: the system's own begins in a fraction of the
# time of one that a shim finds, or that reads packages of the user's.
if [ -x /usr/bin/python3 ]; then
    mkdir -p build/path
    printf '#!/bin/sh\nexec /usr/bin/python3 "$@"\n' >build/path/python3
    chmod +x build/path/python3
    export PATH="$PWD/build/path:$PATH"
fi
# Python leaves no files beside the sources.
export PYTHONDONTWRITEBYTECODE=1
make="make --no-print-directory -j2"
last='nice -n 19'
# ThreadSanitizer cannot map its shadow under some kernels' randomization.
plain=
setarch "$(uname -m)" -R true 2>/dev/null && plain="setarch $(uname -m) -R"

# The processor time, in seconds, of the programs that a shell waited for, from what `times`
# wrote to FILE; a shell below another one has none of its own yet.
worked() {
    awk 'NR == 2 { gsub(/[ms]/, " "); printf "%d\n", ($1 + $3) * 60 + $2 + $4 }' "$1"
}
# A stage counts in a file of its own: another one may run beside it.
stage() {
    title=$1
    shift
    echo "=== $title"
    counts=$(mktemp build/counts.XXXXXX) began=$(date +%s)
    times >"$counts.times"
    had=$(worked "$counts.times")
    if COUNTS=$PWD/$counts "$@"; then
        status=0
    else
        status=$?
        # A stage that broke before it could count is one failure itself.
        grep -q ' [1-9]' "$counts" ||
            { echo "0 1" >>"$counts"; echo "FAILED  $title"; }
    fi
    cat "$counts" >>"$COUNTS"
    times >"$counts.times"
    echo "--- $title: $(($(date +%s) - began)) s," \
        "$(($(worked "$counts.times") - had)) s of processor time"
    rm -f "$counts" "$counts.times"
    return $status
}
# Stages that use one core for most of their time, in two rows side by side.
results() {
    stage 'golden results' tests/golden.sh build
    stage 'JSON Schema' tests/schema.sh build
    stage 'blocks of the READMEs' tests/readme_blocks.sh build
    stage 'ranks of MPI' tests/mpi.sh build
    stage 'jobs of Slurm' tests/slurm.sh build
    stage 'the page' tests/page.sh build
    stage 'the CI kit' tests/ci.sh build
}
others() {
    stage 'gates' tests/check.sh build
    stage 'pictures' tests/pictures.sh build
    stage 'pairs of experiments' tests/pairs.sh build
    stage 'endurance' python3 tests/endurance.py build --quick
    stage 'mutants' tests/mutants.sh build
    stage 'what is installed' tests/installed.sh
    stage 'Debian packages' tests/debian/test.sh
    stage 'the Python package' tests/python.sh build
    stage 'adding one more' tests/adding.sh build
}
threads() {
    $plain tests/run.sh build/tsan runner_test library_test
    $plain tests/same_bytes.sh build build/tsan
}
# Clang compiles what the sanitizers watch, too: the tests run once with it, but those
# that judge words, pictures, what a key changes, the order of lists and searches, which no
# compiler changes.
# The allocator of clang 14's sanitizer is not locked over fork(): the child of a process
# with threads sometimes waits for a lock that nobody holds.  So each test has one
# processor.
apart='order_test order_claims_test order_models_test order_rl_test glossary_test looks_test'
apart="$apart plot_test keys_test time_keys_test idle_keys_test"
apart="$apart many_errors_test sensitivity_test tune_test paper_test"
# Nor do those that compare whole simulations with formulas, papers and oracles: what they run,
# others run, too.
apart="$apart plan_test walks_test naive_world_test naive_rent_test rlscheduler_test"
apart="$apart rollout_fidelity_test"
apart="$apart analytic_test service_mass_test train_test train_resume_test fidelity_test"
apart="$apart planners_test deal_test coverage_test block_stats_test advise_service_test"
apart="$apart goodput_policy_test seeds_test conformance_test tournament_test shares_test"
apart="$apart host_fits_test"
# then_test and fork_test hand over, too, and new_test asks questions; programs crash on
# purpose; importers of whole public traces are watched by import_test and the fuzz harnesses.
apart="$apart handover_test new_test crash_test shared_traces_test"
# Programs of others answer a host that fuzz_answer watches; searches and branches run what
# others run.
apart="$apart exec_test plugin_test border_test fork_test kinds_test steady_test"
# Runs that are killed are read again by folder_test and chaos_test; what judges the tree, the
# manual, pictures or compilers is the same for each build; signals end what others run.
apart="$apart fault_test gate_test house_test newcomer_test manual_page_test paper_plot_test"
apart="$apart bench_test own_metrics_test signal_search_test signal_start_test lookalike_test"
apart="$apart stop_test watchdog_test"
# Statistics touch few arrays; of drawn worlds random_experiment_test runs some, too.
apart="$apart tally_test indices_test scale_test drawn_worlds_test"
# Bad files that reading refuses are refused by refusals_test, in one process.
apart="$apart bad_input_test openb_test equals_test ranked_order_test advise_test"
watched=$(cd tests && ls -- */*_test.c | sed 's|.*/||; s/\.c$//' |
    awk -v apart="$apart" 'index(" " apart " ", " " $0 " ") == 0')
# The other builds fill what the two rows leave of the processors, and make what is run.  A
# file says which build is there.
builds() {
    stage 'build with clang, ASan and UBSan' $last $make asan \
        GOAL="build/asan/clustersim $(printf 'build/asan/tests/%s ' $watched)" &&
        : >build/asan.made
    tsan=build/tsan/tests
    stage 'build with TSan' $last $make tsan \
        GOAL="build/tsan/clustersim $tsan/runner_test $tsan/library_test" && : >build/tsan.made
}
. tests/count.sh

stage 'build with gcc' $make all tests &&
    stage 'tests, gcc' tests/run.sh build
rm -f build/asan.made build/tsan.made
results >build/results.log 2>&1 &
builds >build/builds.log 2>&1 &
others
wait
cat build/results.log build/builds.log
[ ! -f build/asan.made ] ||
    stage 'tests, clang, ASan and UBSan' env PINNED=1 tests/run.sh build/asan $watched
stage 'same bytes' tests/same_bytes.sh build build/asan
[ ! -f build/tsan.made ] || stage 'threads, TSan' threads
stage 'fuzz' $make fuzz FUZZ_S=5

count_sum
