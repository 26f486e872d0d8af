/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * told_test.c - what a policy is told of a job that waits does not depend on whether the policy
 * leases to jobs or to phases; and it is an estimate, not the truth, where estimates are noisy.
 * How fast a job would be elsewhere.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/resize.h"
#include "tests/aid/world.h"

#define JOBS 200u

/* Of each job, what was said when it waited first. */
struct told {
    int64_t estimate_ns[JOBS], submit_ns[JOBS], ready_ns[JOBS];
    uint32_t gpus[JOBS], gpu_milli[JOBS], known;
    int32_t priority[JOBS];
    bool started[JOBS], seen[JOBS];
};

static struct told *now_told;   /* where a trial's policy writes: its own memory ends with it */

static void listen(void *self, struct cs_host *host)
{
    (void)self;
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, i));
        uint32_t job = task->job.i;
        if (job >= JOBS || now_told->seen[job])
            continue;
        now_told->seen[job] = true;
        now_told->estimate_ns[job] = task->estimate_ns;
        now_told->submit_ns[job] = task->submit_ns;
        now_told->ready_ns[job] = task->ready_ns;
        now_told->gpus[job] = task->gpus;
        now_told->gpu_milli[job] = task->gpu_milli;
        now_told->priority[job] = task->priority;
        now_told->started[job] = task->started;
        now_told->known++;
    }
    while (cs_pending_count(host) > 0 && cs_start(host, cs_pending(host, 0)) == CS_DONE)
        continue;
}

static void run_told(const char *policy, uint32_t flags, const struct world_job *job,
                     struct told *told)
{
    struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table, .name = "listener",
        .summary = "writes down what it is told", .flags = flags, .decide = listen,
    };
    struct world_job answer[JOBS];
    struct world world = { 0 };

    memset(told, 0, sizeof *told);
    memcpy(answer, job, sizeof answer);
    now_told = told;
    if (!world_trace(&world, 4, 8, job, JOBS, policy))
        fail_msg("%s", world_error(&world));
    struct host_policy whole = *experiment_trial_spec(world.experiment, 0).policy;
    whole.policy = &table;
    whole.name = table.name;
    if (!world_run(&world, 0, &whole, answer, NULL))
        fail_msg("%s", world_error(&world));
    world_close(&world);
    assert_int_equal(told->known, JOBS);
}

static void phases_are_told_what_jobs_are(void **state)
{
    static const char *const policies[] = {
        "[fcfs]", "[{policy: sjf, estimate: noisy, noise: 1}]",
        "[{policy: sjf, estimate: noisy, noise: 0.2}]",
    };

    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (int p = 0; p < 3; p++) {
            static struct told jobs, phases;
            struct world_job job[JOBS];
            uint32_t exact = 0;

            world_random_jobs(seed, job, JOBS);
            run_told(policies[p], 0, job, &jobs);
            run_told(policies[p], CS_PER_PHASE, job, &phases);
            for (uint32_t i = 0; i < JOBS; i++) {
                int64_t whole_ns = job[i].duration_s * CLOCK_NS_PER_S;
                if (jobs.estimate_ns[i] != phases.estimate_ns[i])
                    fail_msg("job %u: %lld ns as a job, %lld ns as a phase", i,
                             (long long)jobs.estimate_ns[i], (long long)phases.estimate_ns[i]);
                exact += jobs.estimate_ns[i] == whole_ns;
                assert_true(jobs.submit_ns[i] == job[i].submit_s * CLOCK_NS_PER_S);
                assert_true(phases.submit_ns[i] == jobs.submit_ns[i]);
                assert_true(jobs.ready_ns[i] == jobs.submit_ns[i]);
                assert_true(phases.ready_ns[i] == jobs.submit_ns[i]);
                assert_true(jobs.gpus[i] == job[i].gpus && phases.gpus[i] == job[i].gpus);
                assert_int_equal(jobs.gpu_milli[i], phases.gpu_milli[i]);
                assert_true(jobs.priority[i] == 0 && phases.priority[i] == 0);
                assert_false(jobs.started[i] || phases.started[i]);
            }
            assert_int_equal(exact, p == 0 ? JOBS : 0);
        }
}

/* ---- speeds of jobs with phases ---- */

#define FINE_TUNE \
    "{recipe: lora, name: f, model: qwen2.5-1.5b, recompute: full, batch: 32, sequence: 1024, " \
    "micro_batch: 1, steps: 10, train: {gpus: 4, min: 1, max: 8, types: [a100-80, l40s]}}"

/* What was asked for is 1, on the hardware of its kind; more GPUs are faster, but not by more than
 * they are more; each answer is the same when it is asked for again, whatever was asked before. */
static void ask_speeds(void *self, struct cs_host *host)
{
    double speed[3][9];

    (void)self;
    if (cs_pending_count(host) == 0)
        return;
    struct job_id job = cs_task(host, cs_pending(host, 0))->job;
    for (uint32_t pool = 1; pool <= 2; pool++)
        for (uint32_t gpus = 1; gpus <= 8; gpus *= 2)
            speed[pool][gpus] = cs_speedup(host, job, pool, gpus);
    for (uint32_t gpus = 8; gpus >= 1; gpus /= 2)
        for (uint32_t pool = 2; pool > 0; pool--)
            assert_true(cs_speedup(host, job, pool, gpus) == speed[pool][gpus]);
    for (uint32_t pool = 1; pool <= 2; pool++)
        for (uint32_t gpus = 2; gpus <= 8; gpus *= 2) {
            double times = speed[pool][gpus] / speed[pool][gpus / 2];
            if (!(times > 1.2) || times > 2.0001)
                fail_msg("pool %u: %g times as fast on %u GPUs", pool, times, gpus);
        }
    assert_true(fabs(speed[1][4] - 1) < 1e-9);
    assert_true(speed[2][4] < 0.9);
    assert_true(cs_speedup(host, job, 1, 16) == 0);
    assert_true(cs_speedup(host, job, 0, 4) == 0);      /* not of its types */
    cs_start(host, cs_pending(host, 0));
}

static void sizes_and_pools_are_told_apart(void **state)
{
    static const struct cs_policy table = {
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof table, .name = "asker",
        .summary = "asks how fast a job would be", .decide = ask_speeds,
    };
    struct host_policy asker = world_policy(&table);
    struct trial_result result;
    struct world world = { 0 };

    (void)state;
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: "
                    "t, count: 1, gpus: {type: t4, count: 8}, cpu: {type: epyc-7742}, memory: "
                    "2TB}, {name: a, count: 1, gpus: {type: a100-80, count: 8}, cpu: {type: "
                    "epyc-7742, sockets: 2}, memory: 2TB}, {name: l, count: 1, gpus: {type: l40s, "
                    "count: 8}, cpu: {type: epyc-7742, sockets: 2}, memory: 2TB}], storage: "
                    "{bandwidth: 10GB/s}}\nworkload: {arrival: {process: all_at_once}, jobs: 1, "
                    "mix: ["
                    FINE_TUNE "]}\npolicies: [fcfs]\n"))
        fail_msg("%s %s", world_error(&world), world.err.hint);
    if (!world_run(&world, 0, &asker, NULL, &result))
        fail_msg("%s", world_error(&world));
    assert_true(result.value[METRIC_JOBS_DONE] == 1);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_are_told_what_jobs_are),
        cmocka_unit_test(sizes_and_pools_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
