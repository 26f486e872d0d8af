#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ranks.sh - what the tests of ranks and of jobs of Slurm share; read with `.` behind
# count.sh.  $work is their folder, and $work/one the results of one thread.

# holds WHAT COMMAND...: the command must succeed.
holds() {
    what=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        passed
    else
        failed "$what"
        tail -n 20 "$work/said" | sed 's/^/    | /'
    fi
}
# Has the folder the bytes of one thread?
same() {    # FOLDER [OTHER]: of results
    for file in "${2:-$work/one}"/*.csv; do
        cmp "$file" "$1/${file##*/}" || return 1
    done
}
# Bytes of the trials that a folder keeps so far.
kept() { cat "$1"/.trials/*.log 2>/dev/null | wc -c; }

# many_trials NAME SEEDS JOBS: an experiment with three policies.
many_trials() {
    cat <<END
experiment: $1
seeds: $2
cluster: {nodes: [{name: gpu, count: 4, gpus: {type: generic, count: 8}}]}
workload:
  arrival: {process: poisson, rate: 12/h}
  jobs: $3
  mix: [{recipe: trace, gpus: {choice: {1: 1, 4: 1, 8: 1}}, duration: {exponential: {mean: 1h}}}]
policies: [fcfs, {policy: easy, name: backfill}, {policy: sjf, name: short}]
output: {plots: []}
END
}
