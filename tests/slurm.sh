#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# slurm.sh - `slurm.sh BUILD`: a Slurm of two nodes on this machine runs an experiment by
# ranks and by an array of shards, with the bytes of one thread; also when a rank, a node and
# the controller were killed in the middle.  The daemons end with the script.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
. tests/count.sh
. tests/ranks.sh
PATH=$PATH:/usr/sbin:/sbin
for command in sbatch slurmctld slurmd munged; do
    command -v $command >/dev/null || {
        echo "skipped: no $command here (Debian: slurm-wlm, munge)"
        exit 0
    }
done
grep -q ' /sys/fs/cgroup ' /proc/mounts || {
    echo 'skipped: no /sys/fs/cgroup here, which slurmd needs'
    exit 0
}
work=$(mktemp -d /tmp/clustersim-slurm-XXXXXX)
chmod 755 "$work"               # munged wants its socket to be reached
cs=$build/clustersim

# ---- a cluster ----

# All that has the folder in its environment or its words: daemons, and steps, which outlive
# them.
ours() {
    for pid in $(pgrep '^(slurm|munged)' || true); do
        ! grep -zq "$work/" "/proc/$pid/environ" "/proc/$pid/cmdline" 2>/dev/null ||
            echo "$pid"
    done
}
leave() {
    scancel --me >/dev/null 2>&1 || true
    for _ in 1 2 3 4 5 6; do
        [ -n "$(squeue -h 2>/dev/null)" ] || break
        sleep 0.3
    done
    for pid in $(ours); do
        kill -9 "$pid" 2>/dev/null || true
    done
    [ -n "${SLURM_TEST_KEEP:-}" ] || rm -rf "$work" $count_file
}
trap leave EXIT
trap 'exit 130' INT TERM

configure() {
    port=$((20000 + $$ % 3000 * 4))     # below those that clients are given
    cat >"$work/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket,cred_expire=5
SlurmUser=$user
SlurmdUser=$user
SlurmdParameters=config_overrides
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool.%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
KillWait=1
MinJobAge=600
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=4 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=4 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
END
    # PMIx makes a folder for each node, which on one machine must be two.
    for n in 1 2; do
        mkdir "$work/conf$n" "$work/pmix$n" "$work/spool.n$n"
        cp "$work/slurm.conf" "$work/conf$n"
        echo "PMIxCliTmpDirBase=$work/pmix$n" >"$work/conf$n/mpi.conf"
    done
}
start_controller() {
    slurmctld -D >"$work/slurmctld.out" 2>&1 &
    controller=$!
}
start_node() {
    slurmd -D -N "n$1" -f "$work/conf$1/slurm.conf" >"$work/slurmd.n$1.out" 2>&1 &
    eval "node$1=$!"
}
# Waits, up to a minute, until the words after it succeed.
wait_until() {
    for _ in $(seq 300); do
        ! "$@" || return 0
        sleep 0.2
    done
    echo "note: waited in vain: $*"
    return 1
}
are_idle() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }

host=$(hostname -s) user=$(id -un)
mkdir "$work/state" "$work/munge"
chmod 700 "$work/munge"
head -c 32 /dev/urandom >"$work/munge/key"
chmod 600 "$work/munge/key"
configure
SLURM_CONF=$work/slurm.conf
export SLURM_CONF
munged --force --key-file="$work/munge/key" --socket="$work/munge.socket" \
    --pid-file="$work/munge/pid" --log-file="$work/munge/log" \
    --seed-file="$work/munge/seed" 2>/dev/null
start_controller
start_node 1
start_node 2
if ! wait_until are_idle; then
    failed 'a Slurm of two nodes starts'
    tail -n 5 "$work"/*.out | sed 's/^/    | /'
    exit 1
fi

# ---- runs ----

experiment=e
# Submits $experiment with the program $1 into the folder $2, and leaves the last job in $job.
submit() {
    program=$1 out=$2
    shift 2
    "$program" run "$work/$experiment.yaml" -o "$out" "$@" >"$work/submitted" 2>&1 ||
        { cat "$work/submitted"; return 1; }
    job=$(sed -n 's/.*squeue -j \([0-9]*\).*/\1/p' "$work/submitted")
}
has_ended() { [ -z "$(squeue -h -j "$job" 2>/dev/null)" ] && answers; }
answers() { scontrol ping | grep -q 'is UP'; }
state_of() { scontrol -o show job "$job" | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p' | head -n 1; }
# Enough of the trials are there that some are lost if they are not kept.
is_amid() { [ "$(kept "$1")" -gt 150000 ] || [ -f "$1/summary.csv" ]; }
# Processes of the run into that folder.
ranks_of() {
    ps -eo pid,comm,args | awk -v out="$1" '$2 == "clustersim" && index($0, out) { print $1 }'
}

many_trials jobs_of_slurm 70 1000 >"$work/e.yaml"
"$cs" run "$work/e.yaml" -q -j 1 -o "$work/one"
# 2,000 trials, of which some are still to come when the first are seen.
sed 's/seeds: .*/seeds: 1000/; s/jobs: .*/jobs: 400/; s/policies: .*/policies: [fcfs, sjf]/
    s/output: .*/output: {plots: [], tables: [summary, compare]}/' "$work/e.yaml" >"$work/long.yaml"
mkdir "$work/plain"
cp "$cs" "$work/plain"
plain=$work/plain/clustersim    # it has no module of MPI

if [ -f "$build/clustersim_mpi.so" ]; then
    submit "$cs" "$work/ranks" --slurm '-p main -N 2 -n 4' || true
    wait_until has_ended || true
    holds 'ranks of a job run together' test "$(state_of)" = COMPLETED
    holds 'ranks of a job give the bytes of one thread' same "$work/ranks"

    # A rank is killed: the job fails, and the same file goes on.
    experiment=long
    submit "$cs" "$work/cut" --slurm '-N 2 -n 4' || true
    experiment=e
    wait_until is_amid "$work/cut" || true
    before=$(kept "$work/cut")
    kill -9 "$(ranks_of "$work/cut" | tail -n 1)" 2>/dev/null || true
    wait_until has_ended || true
    if [ -f "$work/cut/summary.csv" ]; then
        echo 'note: the job ended before its rank was killed'
    else
        holds 'a job whose rank was killed fails' test "$(state_of)" = FAILED
        holds 'what was finished is kept' test "$(kept "$work/cut")" -ge "$before"
        job=$(sbatch --parsable "$work/cut.sbatch")
        wait_until has_ended || true
        holds 'its file goes on from there' grep -q 'trials were known already' \
            "$work/cut.slurm-$job.out"
    fi
    "$cs" run "$work/long.yaml" -q -o "$work/whole"
    holds 'the bytes after a rank was killed' same "$work/cut" "$work/whole"
else
    echo 'note: no Open MPI here: ranks are not tried'
fi

submit "$plain" "$work/array" --slurm '-p main -N 3' || true
wait_until has_ended || true
holds 'an array of shards and its merge give the bytes of one thread' same "$work/array"

# A controller is killed, and a node goes down with all that runs there: the controller finds
# its jobs again, and Slurm requeues the shard of that node.
submit "$plain" "$work/down" --slurm '--array=1-2 -N 1 -c 4 -w n2' || true
wait_until is_amid "$work/down.shard-1-of-2" || true
for pid in $(ranks_of "$work/down.shard-"); do
    kill -STOP "$pid" || true   # it may have ended just now
done
is_saved() { [ "$work/state/job_state" -nt "$work/submitted" ]; }
wait_until is_saved || true
kill -9 "$controller"
start_controller
wait_until answers || tail -n 5 "$work/slurmctld.out"
holds 'a controller that was killed finds its jobs again' \
    sh -c "squeue -h -o %j | grep -q '^jobs_of_slurm$'"
before=$(kept "$work/down.shard-1-of-2")
kill -9 "$node2"
# Not the shard first, lest its step tells of its end.
for pid in $(ranks_of "$work/down.shard-"); do
    kill -9 "$(ps -o ppid= -p "$pid" | tr -d ' ')" "$pid" || true
done
scontrol update NodeName=n2 State=DOWN Reason=killed
start_node 2
wait_until has_ended || true
holds 'a shard is run again after its node went down' same "$work/down"
holds 'and keeps what was finished' \
    test "$(kept "$work/down.shard-1-of-2")" -gt "$before" -a "$before" -gt 0

# ---- what cannot be ----

refused() {
    says=$1
    shift
    status=0
    "$@" >"$work/refused" 2>&1 || status=$?
    cat "$work/refused"
    [ $status = 2 ] && grep -q "$says" "$work/refused"
}
holds 'what sbatch says is shown' refused 'invalid partition specified: nowhere' \
    "$cs" run "$work/e.yaml" -o "$work/none" --slurm '-p nowhere -n 2'
holds 'and nothing ran' test ! -e "$work/none"

count_sum
