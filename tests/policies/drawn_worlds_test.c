/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawn_worlds_test.c - policies of tenants, turns, sizes and pools decide as oracles that
 * walk over all there is, in worlds of unlike pools, tenants, cores and failures: the same
 * events at the same times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/family_aid.h"

extern const struct cs_policy plain_drf_policy, plain_starburst_policy, plain_optimus_policy,
    plain_time_slice_policy, plain_quota_policy, plain_conservative_policy, plain_qssf_policy,
    plain_dlas_policy, plain_harvest_policy, plain_elastic_hybrid_policy, plain_learned_policy,
    plain_hybrid_policy, plain_dynamic_policy, plain_spot_rollout_policy;

#define FAILURES \
    "", ", failures: {job_mtbf: 30min, restart: 7s}", \
    ", failures: {node_mtbf: 1h, repair: 10min, restart: 20s}"
#define NO_GPUS "{name: cores, count: 1, " CPU "192GB}"
#define CPU "cpu: {type: epyc-7742, sockets: 1}, memory: "

/* All policies of an experiment are of the oracle's name; so many jobs end at least. */
static void same_jobs(const struct cs_policy *oracle, uint32_t least, const char *cluster,
                      const char *workload, const char *policies)
{
    struct world world = { 0 };
    char text[6000];
    int n = snprintf(text, sizeof text,
                     "experiment: drawn\nseeds: 2\nuntil: drained\ncluster: {%s}\n"
                     "workload: {%s}\npolicies: [%s]\n", cluster, workload, policies);

    assert_true(n > 0 && (size_t)n < sizeof text);
    if (!world_open(&world, text))
        fail_msg("%s %s", world_error(&world), world.err.hint);
    for (uint32_t t = 0; t < experiment_trial_count(world.experiment); t++) {
        struct trial_spec spec = experiment_trial_spec(world.experiment, t);
        struct host_policy slow = *spec.policy;
        struct family_run a, b;

        slow.policy = oracle;
        assert_string_equal(spec.policy->policy->name, oracle->name);
        assert_true(oracle->self_bytes <= spec.policy->policy->self_bytes);
        assert_true(family_run_spec(&spec, &a, &world.err));
        spec.policy = &slow;
        assert_true(family_run_spec(&spec, &b, &world.err));
        assert_true(a.result.value[METRIC_JOBS_DONE] >= least);
        if (strcmp(a.jobs, b.jobs) != 0 || a.result.digest != b.result.digest)
            fail_msg("%s: seed %u: another end of a job or another event", slow.name, t % 2);
        family_drop(&a);
        family_drop(&b);
    }
    world_close(&world);
}

static void same_as_oracle(const struct cs_policy *oracle, const char *cluster,
                           const char *workload, const char *policies)
{
    same_jobs(oracle, 40, cluster, workload, policies);
}

/* ---- tenants ---- */

/* Of each tenant another resource is the dominant one: a's GPUs, b's cores, c's memory;
 * of d all are about alike.  A job of g has two roles. */
static void drf_serves_the_smallest_dominant_share(void **state)
{
    static const char *const more[] = { FAILURES };
    static const char workload[] =
        "arrival: {process: poisson, rate: 150/h}, jobs: 60, mix: ["
        "{recipe: trace, name: a, tenant: a, gpus: {choice: {1: 2, 3: 1}}, duration: "
        "{lognormal: {mean: 9min, cv: 2}}, role: {cores: 1, memory: 2GB}}, "
        "{recipe: trace, name: b, tenant: b, gpus: 1, duration: {exponential: {mean: 6min}}, "
        "role: {cores: 21, memory: 3GB}}, "
        "{recipe: trace, name: c, tenant: c, gpus: {choice: {1: 2, 2: 1}}, duration: "
        "{exponential: {mean: 7min}}, role: {cores: 2, memory: 70GB}}, "
        "{recipe: trace, name: d, tenant: d, gpus: {choice: {0.5: 1, 1: 2}}, duration: "
        "{exponential: {mean: 5min}}, role: {cores: 16, memory: 48GB}}, "
        "{recipe: trace, name: f, gpus: 2, duration: {exponential: {mean: 5min}}, role: "
        "{cores: 3, memory: 5GB}}, "
        "{recipe: lora, name: g, tenant: g, model: qwen2.5-0.5b, batch: 16, sequence: 512, steps: "
        "{choice: {100: 1, 900: 1}}, train: {gpus: 1, cores: 9, memory: 30GB}, data: {cores: 30, "
        "memory: 60GB}}]";
    char cluster[600];

    (void)state;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
        snprintf(cluster, sizeof cluster, "nodes: [" NO_GPUS ", {name: x, count: 3, gpus: "
                 "{type: a10, count: 4}, " CPU "192GB}, {name: y, count: 1, gpus: {type: "
                 "a10, count: 2}, " CPU "384GB}]%s", more[m]);
        same_as_oracle(&plain_drf_policy, cluster, workload,
                       "drf, {policy: drf, name: b, blocking: skip}, {policy: drf, name: c, "
                       "blocking: skip, placement: spread}");
    }
}

/* Replicas come and go with requests, more than there are GPUs for, so that some end while they
 * wait. */
#define REPLICAS \
    "services: [{name: chat, tenant: s, model: qwen2.5-7b, gpu: {tp: 1, cores: 2}, replicas: " \
    "{min: 1, max: 14}, batch: 32, requests: {arrival: {process: diurnal, rate: 5/s, " \
    "amplitude: 0.95, peak: 6min}, prompt: {lognormal: {mean: 600, cv: 0.7}, max: 4000}, " \
    "output: {lognormal: {mean: 150, cv: 0.7}, max: 1000}, for: 40min}, slo: {ttft: 2s, " \
    "tpot: 50ms}, scaling: {signal: concurrency, target: 2, interval: 15s, down: 30s}}], " \
    "arrival: {process: poisson, rate: 120/h}, jobs: 60, mix: [{recipe: trace, name: a, " \
    "tenant: a, gpus: {choice: {1: 2, 2: 1}}, duration: {exponential: {mean: 3min}}, role: " \
    "{cores: 3}}, {recipe: trace, name: b, tenant: b, gpus: 1, duration: {exponential: " \
    "{mean: 4min}}, role: {cores: 12}}]"
#define FOUR_PAIRS \
    "nodes: [{name: x, count: 4, gpus: {type: a100-80, count: 2}, " CPU "512GB, nics: {type: " \
    "ib-hdr}}]"

static void drf_counts_replicas_that_end_while_they_wait(void **state)
{
    (void)state;
    same_as_oracle(&plain_drf_policy, FOUR_PAIRS ", failures: {node_mtbf: 8min, repair: 4min, "
                   "restart: 5s}", REPLICAS, "drf, {policy: drf, name: b, blocking: skip}");
}

static void a_replica_that_ends_while_it_waits_leaves_nothing(void **state)
{
    static const char *const more[] = { FAILURES };
    char cluster[400];

    (void)state;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
        snprintf(cluster, sizeof cluster, FOUR_PAIRS "%s", more[m]);
        same_as_oracle(&plain_conservative_policy, cluster, REPLICAS, "conservative");
        same_as_oracle(&plain_qssf_policy, cluster, REPLICAS, "qssf");
    }
}

/* Spot nodes come and are taken away.  A job that is interrupted then waits beside GPUs that are
 * under notice, and by the rules of the queues stands behind those that run. */
static void queues_move_as_nodes_are_taken_away(void **state)
{
    static const char cluster[] =
        "nodes: [{name: own, count: 1, gpus: {type: a100-80, count: 2}, " CPU "512GB}, "
        "{name: cloud, count: 3, gpus: {type: a100-80, count: 2}, " CPU "512GB, rent: {start: 30s, "
        "keep: 60s, reclaim: 12min, notice: 20s}}]";
    static const char workload[] =
        "arrival: {process: poisson, rate: 120/h}, jobs: 80, mix: ["
        "{recipe: trace, name: a, gpus: {choice: {1: 2, 2: 1}}, duration: {exponential: {mean: "
        "3min}}, role: {cores: 3}}, {recipe: trace, name: b, gpus: 1, duration: {exponential: "
        "{mean: 4min}}, role: {cores: 12}}]";

    (void)state;
    same_as_oracle(&plain_dlas_policy, cluster, workload,
                   "{policy: dlas, limit_1: 300s, limit_2: 900s}, {policy: dlas, name: b, "
                   "limit_1: 100s, limit_2: 400s, promotion: 2}");
    same_as_oracle(&plain_time_slice_policy, cluster, workload,
                   "{policy: time-slice, quantum: 60s}, {policy: time-slice, name: b}");
}

/* Quotas in GPUs and in shares, of 22 GPUs; c has none, and of d's share of 18% 3.96 GPUs
 * are its own.  Some jobs may use one pool alone. */
static void quotas_are_lent_and_taken_back(void **state)
{
    static const char *const more[] = { FAILURES };
    static const char workload[] =
        "arrival: {process: poisson, rate: 110/h}, jobs: 70, mix: ["
        "{recipe: trace, name: a, share: 2, tenant: a, gpus: {choice: {1: 2, 3: 1, 6: 1}}, "
        "duration: {lognormal: {mean: 9min, cv: 2}}}, "
        "{recipe: trace, name: b, tenant: b, priority: 2, gpus: {choice: {1: 2, 2: 2, 4: 1}}, "
        "duration: {exponential: {mean: 8min}}}, "
        "{recipe: trace, name: bx, tenant: b, gpus: 2, duration: {exponential: {mean: "
        "8min}}, role: {pool: x}}, "
        "{recipe: trace, name: c, tenant: c, gpus: {choice: {1: 2, 5: 1}}, duration: "
        "{exponential: {mean: 7min}}}, "
        "{recipe: trace, name: dy, tenant: d, priority: 1, gpus: {choice: {1: 1, 3: 1}}, "
        "duration: {exponential: {mean: 9min}}, role: {pool: y}}, "
        "{recipe: trace, name: n, gpus: 1, duration: {exponential: {mean: 5min}}}]";
    static const char policies[] =
        "{policy: quota, quotas: a=7.5 b=30% d=18%}, {policy: quota, name: b, reclaim: false, "
        "quotas: a=25%  b=6 d=4}, {policy: quota, name: c, quotas: d=5 a=0 b=9, preemption: "
        "{cost: 20s}}";
    char cluster[600];

    (void)state;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
        snprintf(cluster, sizeof cluster, "nodes: [" NO_GPUS ", {name: x, count: 4, gpus: "
                 "{type: generic, count: 4}}, {name: y, count: 2, gpus: {type: generic, "
                 "count: 3}}]%s",
                 more[m]);
        same_as_oracle(&plain_quota_policy, cluster, workload, policies);
    }
}

/* ---- turns ---- */

#define KIND(NAME, GPUS, BESIDE) \
    "{recipe: trace, name: " NAME ", gpus: " GPUS ", duration: {lognormal: {mean: 8min, cv: " \
    "2}}" BESIDE "}"

static void turns_go_to_those_that_have_not_run_for_longest(void **state)
{
    static const char *const more[] = { FAILURES };
    static const char workload[] =
        "arrival: {process: poisson, rate: 120/h}, jobs: 60, mix: ["
        KIND("a", "{choice: {1: 3, 2: 1, 6: 1}}", "") ", " KIND("b", "1", "") "]";
    static const char policies[] =
        "time-slice, {policy: time-slice, name: b, quantum: 37s, preemption: {cost: 5s}}, "
        "{policy: time-slice, name: c, quantum: 300s, placement: spread}, {policy: "
        "time-slice, name: d, quantum: 45s, tick: 10s}";
    char cluster[400];

    (void)state;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
        snprintf(cluster, sizeof cluster, "nodes: [{name: n, count: 3, gpus: {type: generic, "
                 "count: 4}}]%s", more[m]);
        same_as_oracle(&plain_time_slice_policy, cluster, workload, policies);
    }
}

/* Some pairs do more than one, some less, and some cannot be together. */
static void pairs_that_are_slow_are_kept_apart(void **state)
{
    static const char *const more[] = { FAILURES };
    static const char workload[] =
        "arrival: {process: poisson, rate: 150/h}, jobs: 60, mix: ["
        KIND("a", "1", ", packing: {a: 0.7, b: 0.8, c: 0.3}") ", "
        KIND("b", "1", ", packing: {a: 0.6, b: 0.45, c: 0.5}") ", "
        KIND("c", "1", ", packing: {a: 0.55, b: 0.5}") ", "
        KIND("d", "2", ", packing: {d: 0.51}") "]";
    static const char policies[] =
        "{policy: time-slice, name: a, packing: true}, {policy: time-slice, name: b, "
        "packing: true, quantum: 37s, preemption: {cost: 5s}}";
    char cluster[400];

    (void)state;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
        snprintf(cluster, sizeof cluster, "nodes: [{name: n, count: 3, gpus: {type: generic, "
                 "count: 2}}]%s", more[m]);
        same_as_oracle(&plain_time_slice_policy, cluster, workload, policies);
    }
}

/* ---- sizes ---- */

static void optimus_takes_the_step_that_saves_most(void **state)
{
    static const char *const more[] = { FAILURES };
    static const char workload[] =
        "arrival: {process: poisson, rate: 90/h}, jobs: 50, mix: ["
        "{recipe: trace, name: a, share: 2, gpus: {choice: {1: 1, 2: 1}}, duration: "
        "{lognormal: {mean: 20min, cv: 2}}, elastic: {min: 1, max: 9, scaling: linear}}, "
        "{recipe: trace, name: b, gpus: 2, duration: {exponential: {mean: 15min}}, elastic: "
        "{min: 2, max: 8, scaling: {amdahl: 30%}}}, "
        "{recipe: trace, name: c, gpus: 2, duration: {exponential: {mean: 10min}}, elastic: "
        "{min: 1, max: 8, scaling: {table: {1: 1, 2: 1.9, 3: 1.7, 4: 3.9, 8: 7.5}}}}, "
        "{recipe: trace, name: d, gpus: 3, duration: 12min}, "
        "{recipe: trace, name: e, gpus: 0.25, duration: 12min}]";
    static const char policies[] =
        "{policy: optimus, interval: 60s}, {policy: optimus, name: b, interval: 90s, "
        "estimate: noisy, noise: 1}, {policy: optimus, name: c, preemption: {cost: 13s}}";
    char cluster[400];

    (void)state;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
        snprintf(cluster, sizeof cluster, "nodes: [" NO_GPUS ", {name: n, count: 5, gpus: "
                 "{type: generic, count: 4}}]%s", more[m]);
        same_as_oracle(&plain_optimus_policy, cluster, workload, policies);
    }
}

/* ---- pools ---- */

/* Two pools are owned; some jobs are wider than both together. */
static void what_has_waited_enough_goes_to_the_cloud(void **state)
{
    static const char *const more[] = { FAILURES };
    static const char workload[] =
        "arrival: {process: poisson, rate: 120/h}, jobs: 60, mix: ["
        "{recipe: trace, name: a, share: 3, gpus: {choice: {1: 3, 2: 1, 5: 1}}, duration: "
        "{lognormal: {mean: 9min, cv: 2}}}, "
        "{recipe: trace, name: b, gpus: {choice: {6: 1, 13: 1}}, duration: {exponential: "
        "{mean: 6min}}}, {recipe: trace, name: c, gpus: 2, duration: {exponential: {mean: "
        "5min}}, role: {cores: 10}}]";
    static const char policies[] =
        "starburst, {policy: starburst, name: b, wait: none}, {policy: starburst, name: c, "
        "wait: constant, budget: 400s, blocking: skip}, {policy: starburst, name: d, wait: "
        "runtime, factor: 0.7, blocking: skip, estimate: noisy, noise: 1}, {policy: "
        "starburst, name: e, factor: 2, blocking: skip}";
    char cluster[600];

    (void)state;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
        snprintf(cluster, sizeof cluster, "nodes: [" NO_GPUS ", {name: x, count: 2, gpus: "
                 "{type: generic, count: 4}, " CPU "1TB}, {name: cloud, count: 4, gpus: {type: "
                 "generic, count: 8}, " CPU "1TB}, {name: y, count: 1, gpus: {type: generic, "
                 "count: 3}, " CPU "1TB}]%s", more[m]);
        same_as_oracle(&plain_starburst_policy, cluster, workload, policies);
    }
}

/* ---- phases ---- */

#define NODES(NAME, COUNT, GPU, GPUS, MEMORY) \
    "{name: " NAME ", count: " COUNT ", gpus: {type: " GPU ", count: " GPUS "}, cpu: {type: " \
    "epyc-7763, sockets: 1}, memory: " MEMORY ", nics: {type: ib-hdr}, price: 16USD/h}"
#define GRPO(NAME, GPUS, MORE) GRPO_FROM(NAME, GPUS, "4", MORE)
#define GRPO_FROM(NAME, GPUS, MIN, MORE) \
    "{recipe: grpo, name: " NAME ", model: qwen2.5-7b, zero: 3, recompute: full, micro_batch: " \
    "1, prompts: 16, responses: 4, prompt_tokens: 512, response: {mean: 400, cv: 1, max: " \
    "4096}, reward: {on: cpu, core_time: 20ms}, checkpoint_every: 2, steps: {uniform: [1, 4]}, " \
    "data: {cores: 4}, " MORE "rollout: {gpus: " GPUS ", min: 2, max: 16, types: [l40s, " \
    "a100-80]}, train: {gpus: 8, min: " MIN ", max: 16, types: [a100-80, l40s]}}"
#define LORA(NAME, MORE) \
    "{recipe: dpo, name: " NAME ", share: 2, model: qwen2.5-7b, method: lora, recompute: full, " \
    "zero: 2, prompts: 64, pairs: 1, prompt_tokens: 256, response: {mean: 200, cv: 1, max: " \
    "1024}, reward: {on: cpu, core_time: 100ms}, steps: {uniform: [1, 5]}, checkpoint_every: 2, " \
    MORE "rollout: {gpus: 4, min: 2, max: 8, types: [l40s, a100-80]}, train: {gpus: 4, min: 2, " \
    "max: 8, types: [a100-80, l40s]}, data: {cores: 8}}"
#define PHASES \
    "arrival: {process: poisson, rate: 120/h}, jobs: 14, mix: [" GRPO("wide", "16", "") ", " \
    GRPO("g", "8", "priority: 2, ") ", " LORA("d", "") ", {recipe: trace, name: t, gpus: 4, " \
    "duration: {exponential: {mean: 3min}}}]"
#define TWO_POOLS(COUNT, MEMORY) \
    "nodes: [" NODES("train", COUNT, "a100-80", "8", MEMORY) ", " \
    NODES("rollout", COUNT, "l40s", "8", MEMORY) "], storage: {bandwidth: 20GB/s}"

static void roles_take_the_size_at_which_they_are_over_soonest(void **state)
{
    static const char *const cluster[] = {
        TWO_POOLS("2", "2TB"),
        TWO_POOLS("3", "2TB") ", failures: {node_mtbf: 3h, repair: 10m, restart: 30s}",
        TWO_POOLS("3", "2TB") ", power_cap: 24kW",
    };
    static const char workload[] =
        "arrival: {process: poisson, rate: 120/h}, jobs: 14, mix: [" GRPO("wide", "16", "") ", "
        GRPO_FROM("g", "8", "8", "priority: 2, schedule: one-step-off, ") ", " LORA("d", "") ", "
        "{recipe: trace, name: t, gpus: 4, duration: {exponential: {mean: 3min}}}]";
    static const char policies[] =
        "elastic-hybrid, {policy: elastic-hybrid, name: b, gain_min: 1, placement: spread}, "
        "{policy: elastic-hybrid, name: c, gain_min: 2}";

    (void)state;
    for (size_t c = 0; c < sizeof cluster / sizeof *cluster; c++)
        same_jobs(&plain_elastic_hybrid_policy, 14, cluster[c], workload, policies);
}

/* Services ask for more and for less, and rollouts borrow what they leave. */
static void rollouts_harvest_what_services_leave(void **state)
{
    static const char *const cluster[] = {      /* the pool of services first, and last */
        "nodes: [" NODES("serve", "2", "a100-80", "8", "2TB") ", "
        NODES("rollout", "1", "a100-80", "8", "2TB") ", "
        NODES("train", "2", "a100-80", "8", "2TB") "], storage: {bandwidth: 20GB/s}",
        "nodes: [" NODES("rollout", "1", "a100-80", "8", "2TB") ", "
        NODES("train", "2", "a100-80", "8", "2TB") ", "
        NODES("serve", "2", "a100-80", "8", "2TB") "], storage: {bandwidth: 20GB/s}",
    };
    static const char *const arrival[] = {
        "{process: poisson, rate: 60/h}, jobs: 6", "{process: all_at_once}, jobs: 9",
    };
    static const char format[] =
        "services: [{name: chat, model: qwen2.5-7b, gpu: {tp: 1, types: [a100-80], cores: 2}, "
        "replicas: {min: 1, max: 12}, batch: 32, requests: {arrival: {process: diurnal, rate: "
        "3/s, amplitude: 0.9, peak: 6min}, prompt: {lognormal: {mean: 600, cv: 0.7}, max: "
        "4000}, output: {lognormal: {mean: 150, cv: 0.7}, max: 1000}, for: 15min}, slo: {ttft: "
        "2s, tpot: 50ms}, scaling: {signal: concurrency, target: 2, interval: 15s, down: 60s}}], "
        "arrival: %s, mix: [" GRPO("wide", "16", "") ", " GRPO("g", "8", "") ", " LORA("d", "")
        "]";
    static const char policies[] =
        "harvest, {policy: harvest, name: b, delay: 7s}, {policy: harvest, name: c, reserve: "
        "40%}";
    char workload[3000];

    (void)state;
    for (size_t i = 0; i < sizeof arrival / sizeof *arrival; i++) {
        snprintf(workload, sizeof workload, format, arrival[i]);
        for (size_t c = 0; c < sizeof cluster / sizeof *cluster; c++)
            same_jobs(&plain_harvest_policy, 6, cluster[c], workload, policies);
    }
}

/* Scores that send a phase home, elsewhere, to more GPUs, on, or let it wait. */
static void learned_starts_the_best_of_all_pairs(void **state)
{
    static const char *const cluster[] = {
        TWO_POOLS("3", "2TB"),
        TWO_POOLS("3", "2TB") ", failures: {node_mtbf: 3h, repair: 10m, restart: 30s}",
    };
    static const char policies[] =
        "learned, {policy: learned, name: b, weights: {start: 8, run: -4, usd: -1, gpus: 2}}, "
        "{policy: learned, name: c, depth_max: 3, weights: {start: 1, at_home: 2, grows: -4, "
        "age: 4, switch: -2, evict: -8}}, {policy: learned, name: d, weights: {job_left: -1, "
        "slower: -2, on_held: 0.5, takes_idle: 0.25, start: 0.5}}";

    (void)state;
    for (size_t c = 0; c < sizeof cluster / sizeof *cluster; c++)
        same_jobs(&plain_learned_policy, 14, cluster[c], PHASES, policies);
}

/* Jobs whose switches are dear and cheap beside a step, and some that wait in one pool while the
 * other has room: GPUs are held, lent, and given back. */
static void phases_leave_home_where_that_is_over_sooner(void **state)
{
    static const char *const cluster[] = {
        TWO_POOLS("2", "2TB"),
        TWO_POOLS("3", "2TB") ", failures: {node_mtbf: 3h, repair: 10m, restart: 30s}",
        TWO_POOLS("3", "2TB") ", power_cap: 23kW",
        "nodes: [" NODES("train", "3", "a100-80", "8", "2TB") ", "
        NODES("rollout", "2", "l40s", "8", "2TB") "], storage: {bandwidth: 500MB/s}",
    };
    static const char hybrid[] =
        "hybrid, {policy: hybrid, name: b, reserve: 40%, release_max: 100}, {policy: hybrid, "
        "name: c, release_max: 30%, lend_max: 10}, {policy: hybrid, name: d, reserve: 33%, "
        "lend_max: 2, placement: spread}, {policy: hybrid, name: e, release_max: 100, lend_max: "
        "100}, {policy: hybrid, name: f, release_max: 0, reserve: 30%, lend_max: 100}";
    static const char dynamic[] =
        "dynamic, {policy: dynamic, name: b, owners_first: true, release_max: 100, lend_max: "
        "100}, {policy: dynamic, name: c, gain_min: 3, lend_max: 20, release_max: 30%}, {policy: "
        "dynamic, name: d, lend: false, lend_max: 3}, {policy: dynamic, name: e, gain_min: 0.2, "
        "lend_max: 100, owners_first: true}, {policy: dynamic, name: f, grow: false, "
        "release_max: 10}, {policy: dynamic, name: g, release_max: 0, lend_max: 100}";

    (void)state;
    for (size_t c = 0; c < sizeof cluster / sizeof *cluster; c++) {
        same_jobs(&plain_hybrid_policy, 14, cluster[c], PHASES, hybrid);
        same_jobs(&plain_dynamic_policy, 14, cluster[c], PHASES, dynamic);
    }
}

/* Spot instances come and are taken away, or the other pool stays. */
static void rollouts_take_what_is_there(void **state)
{
    static const char spot[] =
        "nodes: [" NODES("train", "2", "a100-80", "8", "2TB") ", {name: spot, count: 3, gpus: "
        "{type: l40s, count: 8}, cpu: {type: epyc-7763, sockets: 1}, memory: 2TB, nics: {type: "
        "ib-hdr}, price: 6USD/h, rent: {start: 40s, keep: 2min, reclaim: 9min, notice: 20s}}], "
        "storage: {bandwidth: 20GB/s}";

    (void)state;
    same_jobs(&plain_spot_rollout_policy, 14, spot, PHASES, "spot-rollout, {policy: "
              "spot-rollout, name: b, placement: spread}");
    same_jobs(&plain_spot_rollout_policy, 14, TWO_POOLS("2", "2TB"), PHASES, "{policy: "
              "spot-rollout, spot: rollout}, {policy: spot-rollout, name: b, spot: rollout, "
              "role: train, grow: false}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drf_serves_the_smallest_dominant_share),
        cmocka_unit_test(drf_counts_replicas_that_end_while_they_wait),
        cmocka_unit_test(a_replica_that_ends_while_it_waits_leaves_nothing),
        cmocka_unit_test(queues_move_as_nodes_are_taken_away),
        cmocka_unit_test(quotas_are_lent_and_taken_back),
        cmocka_unit_test(turns_go_to_those_that_have_not_run_for_longest),
        cmocka_unit_test(pairs_that_are_slow_are_kept_apart),
        cmocka_unit_test(optimus_takes_the_step_that_saves_most),
        cmocka_unit_test(what_has_waited_enough_goes_to_the_cloud),
        cmocka_unit_test(roles_take_the_size_at_which_they_are_over_soonest),
        cmocka_unit_test(rollouts_harvest_what_services_leave),
        cmocka_unit_test(learned_starts_the_best_of_all_pairs),
        cmocka_unit_test(phases_leave_home_where_that_is_over_sooner),
        cmocka_unit_test(rollouts_take_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
