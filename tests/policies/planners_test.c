/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * planners_test.c - policies that plan for all jobs decide as their oracles,
 * which look at all of them, do; and what they do with jobs that are alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "tests/aid/family_aid.h"
#include "tests/oracles/plain_lucid.h"

extern const struct cs_policy plain_pollux_policy, plain_afs_policy,
    plain_themis_policy, plain_shockwave_policy, plain_elasticflow_policy, plain_sia_policy,
    plain_allox_policy, plain_synergy_policy;

#define FEW "population: 7, generations: 4"
#define GENERIC "nodes: [{name: n, count: 4, gpus: {type: generic, count: 4}}]"
/* A pool without GPUs stands before the others, which are unlike. */
#define WITHOUT_GPUS(NAME) \
    "{name: " NAME ", count: 2, cpu: {type: epyc-7742, sockets: 1}, memory: 192GB}"
#define MIXED \
    "nodes: [" WITHOUT_GPUS("c") ", {name: t4, count: 3, gpus: {type: t4, count: 4}, cpu: {type: " \
    "epyc-7742, sockets: 1}, memory: 192GB}, {name: a100, count: 1, gpus: " \
    "{type: a100-40, count: 4}, cpu: {type: epyc-7742, sockets: 1}, " \
    "memory: 1TB}]"
#define ELASTIC \
    "arrival: {process: poisson, rate: 90/h}, jobs: 30, mix: [{recipe: trace, " \
    "gpus: {choice: {1: 5, 2: 2, 3: 1, 8: 1}}, duration: {lognormal: {mean: " \
    "10min, cv: 2}}, elastic: {min: 1, max: 12, scaling: {amdahl: 10%}}}, " \
    "{recipe: trace, name: rigid, gpus: 2, duration: 15min}]"

/* Jobs of which one is better off by a second GPU than another by a third, of which
 * some gain more by each further GPU, and of which intervals overlap in circles. */
#define CURVES \
    "arrival: {process: poisson, rate: 120/h}, jobs: 40, mix: [{recipe: trace, " \
    "name: a, gpus: 1, duration: {lognormal: {mean: 20min, cv: 2}}, elastic: {min: " \
    "1, max: 9, scaling: linear}}, {recipe: trace, name: b, gpus: {choice: {1: 1, 2: " \
    "1}}, duration: {lognormal: {mean: 15min, cv: 2}}, elastic: {min: 1, max: 8, " \
    "scaling: {amdahl: 30%}}}, {recipe: trace, name: c, gpus: 2, duration: {lognormal: " \
    "{mean: 10min, cv: 1}}, elastic: {min: 2, max: 8, scaling: {table: {1: 1, " \
    "2: 1.9, 3: 2, 4: 3.9, 6: 4, 8: 7.5}}}}]"

/* Jobs of which a second GPU brings one 90%, one 60% and one 40% more: the first wins
 * against the last even if that one ends first, and between either and the second the end
 * decides. */
#define CHAIN \
    "arrival: {process: poisson, rate: 120/h}, jobs: 60, mix: [{recipe: trace, " \
    "name: a, gpus: 1, duration: {exponential: {mean: 10min}}, elastic: {min: 1, max: 2, " \
    "scaling: {table: {1: 1, 2: 1.9}}}}, {recipe: trace, name: b, gpus: 1, duration: " \
    "{exponential: {mean: 10min}}, elastic: {min: 1, max: 2, scaling: {table: {1: 1, 2: " \
    "1.6}}}}, {recipe: trace, name: c, gpus: 1, duration: {exponential: {mean: 5min}}, " \
    "elastic: {min: 1, max: 2, scaling: {table: {1: 1, 2: 1.4}}}}]"

static const struct cs_policy *linear_of(const char *name)
{
    static const struct cs_policy *const policy[] = {
        &plain_pollux_policy, &plain_afs_policy, &plain_themis_policy,
        &plain_elasticflow_policy, &plain_sia_policy, &plain_allox_policy,
        &plain_synergy_policy,
    };

    for (size_t i = 0; i < sizeof policy / sizeof *policy; i++)
        if (strcmp(policy[i]->name, name) == 0)
            return policy[i];
    fail_msg("%s has no oracle", name);
    return NULL;
}

static void same_as_their_oracles(const char *cluster, const char *workload,
                                  const char *policies)
{
    struct world world = { 0 };
    char text[4096];
    int n = snprintf(text, sizeof text,
                     "experiment: planners\nseeds: 1\nuntil: drained\n"
                     "cluster: {%s}\nworkload: {%s}\npolicies: [%s]\n", cluster,
                     workload, policies);

    assert_true(n > 0 && (size_t)n < sizeof text);
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    for (uint32_t t = 0; t < experiment_trial_count(world.experiment); t++) {
        struct trial_spec spec = experiment_trial_spec(world.experiment, t);
        struct host_policy slow = *spec.policy;
        struct family_run a, b;

        slow.policy = linear_of(spec.policy->policy->name);
        assert_true(slow.policy->self_bytes <= spec.policy->policy->self_bytes);
        assert_true(family_run_spec(&spec, &a, &world.err));
        spec.policy = &slow;
        assert_true(family_run_spec(&spec, &b, &world.err));
        assert_true(a.result.value[METRIC_JOBS_DONE] >= 28);
        assert_true(a.result.digest == b.result.digest);
        assert_string_equal(a.jobs, b.jobs);
        family_drop(&a);
        family_drop(&b);
    }
    world_close(&world);
}

static void plans_are_those_of_a_look_at_everything(void **state)
{
    static const char *const more[] = {
        "", ", failures: {job_mtbf: 30min, restart: 7s}",
        ", failures: {node_mtbf: 1h, repair: 10min, restart: 20s}",
    };
    static const char policies[] =
        "{policy: pollux, " FEW "}, {policy: pollux, name: b, p: 0, restart: "
        "0s, growth: 5, " FEW "}, {policy: pollux, name: c, depth: 3, "
        "interval: 300s, p: -4, " FEW "}, "
        "afs, {policy: afs, name: d, interval: 90s, estimate: noisy, noise: "
        "1}, themis, {policy: themis, name: e, f: 20%, lease: 200s}";
    char cluster[600];

    (void)state;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
        snprintf(cluster, sizeof cluster, "%s%s", GENERIC, more[m]);
        same_as_their_oracles(cluster, ELASTIC, policies);
    }
}

static void afs_deals_to_jobs_of_many_curves_as_its_contest_does(void **state)
{
    (void)state;
    same_as_their_oracles(GENERIC, CURVES, "afs, {policy: afs, name: b, interval: 90s, "
                          "estimate: noisy, noise: 1}");
    same_as_their_oracles("nodes: [{name: n, count: 16, gpus: {type: generic, count: 4}}], "
                          "failures: {job_mtbf: 30min, restart: 7s}", CURVES, "afs");
    same_as_their_oracles("nodes: [{name: n, count: 5, gpus: {type: generic, count: 4}}]",
                          CHAIN, "afs, {policy: afs, name: b, preemption: {cost: 97s}}");
    same_as_their_oracles("nodes: [{name: n, count: 2, gpus: {type: generic, count: 4}}]",
                          CURVES, "{policy: afs, preemption: {cost: 97s}}");
}

/* Nothing fails, so that a deal is kept from job to job: with few and with many jobs a GPU, with
 * jobs that are equal, with sizes that are no GPU apart, and where jobs start in pieces. */
static void afs_keeps_what_its_contest_would_deal_again(void **state)
{
    static const char *const mix[] = {
        "gpus: {choice: {1: 5, 2: 2, 4: 2, 8: 1}}, duration: {exponential: {mean: 10min}}, "
        "elastic: {min: 1, max: 16, scaling: {amdahl: 10%}}",
        "gpus: {choice: {1: 2, 2: 1}}, duration: {choice: {5min: 1, 10min: 2}}, "
        "elastic: {min: 1, max: 4, scaling: {amdahl: 20%}}",
        "gpus: {choice: {2: 2, 4: 1}}, duration: {lognormal: {mean: 10min, cv: 2}}, "
        "elastic: {min: 2, max: 8, scaling: {table: {1: 1, 2: 1.9, 4: 3.5, 6: 4, 8: 6}}}",
        "gpus: 2, duration: {exponential: {mean: 10min}}, elastic: {min: 2, max: 8, scaling: "
        "{table: {1: 1, 2: 1.9, 4: 3.5, 8: 6}}}}, {recipe: trace, name: b, gpus: 1, duration: "
        "{exponential: {mean: 8min}}, elastic: {min: 1, max: 3, scaling: {amdahl: 60%}}",
    };
    static const char *const per_h[] = { "60", "240", "2000" };
    static const char policies[] =
        "afs, {policy: afs, name: b, preemption: {cost: 97s}, estimate: noisy, noise: 1}, "
        "{policy: afs, name: c, interval: 50s}";
    char workload[700];

    (void)state;
    for (size_t m = 0; m < 3 * sizeof mix / sizeof *mix; m++) {
        snprintf(workload, sizeof workload, "arrival: {process: poisson, rate: %s/h}, jobs: 60, "
                 "mix: [{recipe: trace, %s}]", per_h[m % 3], mix[m / 3]);
        same_as_their_oracles("nodes: [{name: n, count: 3, gpus: {type: generic, count: 7}}]",
                              workload, policies);
    }
}

/* Deadlines that can be kept and that cannot, sizes with gaps, speeds that fall, and
 * whole numbers of slots. */
static void elasticflow_fills_slots_as_if_one_by_one(void **state)
{
    static const char *const elastic[] = {
        "{min: 1, max: 12, scaling: {amdahl: 10%}}", "{min: 1, max: 5, scaling: linear}",
        "{min: 1, max: 8, scaling: {table: {1: 1, 2: 1.9, 4: 1.5, 8: 4}}}",
        "{min: 4, max: 6, scaling: {table: {1: 1, 4: 4, 6: 5}}}",
    };
    static const char policies[] =
        "elasticflow, {policy: elasticflow, name: b, slot: 300s, slack: 0%}, {policy: "
        "elasticflow, name: c, slots_max: 9}, {policy: elasticflow, name: d, estimate: "
        "noisy, noise: 1}";
    char workload[600];

    (void)state;
    for (size_t i = 0; i < sizeof elastic / sizeof *elastic; i++) {
        snprintf(workload, sizeof workload, "arrival: {process: poisson, rate: 150/h}, jobs: "
                 "60, mix: [{recipe: trace, gpus: {choice: {1: 3, 2: 1}}, duration: "
                 "{choice: {5min: 1, 10min: 1, 17min: 1, 1h: 1}}, deadline: {lognormal: "
                 "{mean: 25min, cv: 1}}, elastic: %s}, {recipe: trace, name: b, gpus: 1, "
                 "duration: {exponential: {mean: 10min}}, elastic: %s}]",
                 elastic[i], elastic[i]);
        same_as_their_oracles(GENERIC, workload, policies);
        same_as_their_oracles(GENERIC ", failures: {job_mtbf: 30min, restart: 7s}", workload,
                              policies);
    }
}

static void plans_for_mixed_gpus_are_those_of_a_look_at_everything(void **state)
{
    char here[512], workload[800];

    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    snprintf(workload, sizeof workload, "trace: {file: %s/workloads/traces/"
             "goodput.csv, format: pollux, lengths: applications, role: {cores: "
             "20}}", here);     /* a node has 64, and four GPUs */
    same_as_their_oracles(MIXED, workload,
                          "{policy: pollux, " FEW "}, {policy: pollux, name: "
                          "b, p: -2, growth: 3, " FEW "}, afs, themis");
}

/* Two pools, of which the second is faster for some jobs; jobs that no node holds, and that
 * move among small ones; a pool without GPUs before both; nodes of which the 64 cores or the
 * memory suffice for fewer GPUs than there are. */
#define NARROW "cpu: {type: epyc-7742, sockets: 1}, memory: "
static void sia_deals_what_is_best_of_all_combinations(void **state)
{
    static const char *const cluster[] = {
        "nodes: [{name: a, count: 3, gpus: {type: generic, count: 4}}, {name: b, count: 2, "
        "gpus: {type: generic, count: 3}}]",
        "nodes: [{name: a, count: 2, gpus: {type: generic, count: 4}}, {name: b, count: 1, "
        "gpus: {type: generic, count: 8}}], failures: {job_mtbf: 30min, restart: 7s}",
        "nodes: [" WITHOUT_GPUS("c") ", {name: a, count: 7, gpus: {type: generic, count: 2}}, "
        "{name: b, count: 1, gpus: {type: generic, count: 3}}]",
    };
    static const char narrow[] =
        "nodes: [{name: a, count: 3, gpus: {type: generic, count: 4}, " NARROW "192GB}, {name: b, "
        "count: 2, gpus: {type: generic, count: 3}, " NARROW "384GB}]";
    static const char unlike[] =        /* two whole nodes of a, which has GPUs for three */
        "nodes: [{name: a, count: 2, gpus: {type: generic, count: 4}, " NARROW "192GB}, {name: s, "
        "pool: a, count: 3, gpus: {type: generic, count: 2}, " NARROW "192GB}, {name: b, count: "
        "1, gpus: {type: generic, count: 3}, " NARROW "384GB}]";
    static const char workload[] =
        "arrival: {process: poisson, rate: 14/h}, jobs: 40, mix: [{recipe: trace, name: x, "
        "rates: {a: 1, b: 1.7}, gpus: {choice: {1: 5, 2: 2}}, duration: {lognormal: {mean: "
        "17min, cv: 2}}, elastic: {min: 1, max: 12, scaling: {amdahl: 13%}}}, {recipe: trace, "
        "name: y, rates: {a: 1, b: 0.61}, gpus: {choice: {1: 1, 3: 1}}, duration: {exponential: "
        "{mean: 11min}}, elastic: {min: 1, max: 8, scaling: {amdahl: 29%}}}]";
    static const char policies[] =
        "sia, {policy: sia, name: b, p: -2, growth: 4, restart: 119s}, {policy: sia, name: c, "
        "p: 0.5, interval: 90s, idle: 0.3}, {policy: sia, name: d, growth: 1, idle: 2, "
        "preemption: {cost: 13s}}";
    static const char wide[] =
        "arrival: {process: poisson, rate: 14/h}, jobs: 40, mix: [{recipe: trace, name: x, "
        "role: {cores: 20}, gpus: 1, duration: {lognormal: {mean: 15min, cv: 2}}, elastic: {min: "
        "1, max: 12, scaling: {amdahl: 5%}}}, {recipe: trace, name: y, role: {memory: 90GB}, "
        "gpus: 1, duration: {exponential: {mean: 11min}}, elastic: {min: 1, max: 8, scaling: "
        "{amdahl: 9%}}}]";

    (void)state;
    for (size_t c = 0; c < sizeof cluster / sizeof *cluster; c++)
        same_as_their_oracles(cluster[c], workload, policies);
    same_as_their_oracles(narrow, wide, policies);
    same_as_their_oracles(unlike, workload, policies);
    same_as_their_oracles(unlike, wide, policies);
}

/* Each pool is the fastest for some jobs, nodes come and go, and some jobs may run on the third
 * alone.  A pool has one GPU: of two GPUs of a pool that are busy still, the sum of ends is the
 * same whichever job waits for which. */
static void allox_matches_jobs_as_the_best_of_all_ways(void **state)
{
#define ONE_GPU(NAME) "{name: " NAME ", count: 1, gpus: {type: generic, count: 1}}"
    static const char *const cluster[] = {
        "nodes: [" ONE_GPU("a") ", " ONE_GPU("b") ", " ONE_GPU("c") ", " ONE_GPU("d") "]",
        "nodes: [" ONE_GPU("a") ", " ONE_GPU("b") ", " ONE_GPU("c") ", " ONE_GPU("d") "], "
        "failures: {node_mtbf: 40min, repair: 20min, restart: 20s}",
        "nodes: [" WITHOUT_GPUS("e") ", " ONE_GPU("a") ", " ONE_GPU("b") ", " ONE_GPU("c") ", "
        ONE_GPU("d") "], failures: {job_mtbf: 20min, restart: 7s}",
    };
    static const char workload[] =
        "arrival: {process: poisson, rate: 22/h}, jobs: 60, mix: [{recipe: trace, name: x, "
        "rates: {a: 1, b: 1.71, c: 0.41, d: 0.27}, gpus: 1, duration: {lognormal: {mean: 11min, "
        "cv: 2}}}, {recipe: trace, name: y, rates: {a: 1, b: 0.33, c: 1.3, d: 0.9}, gpus: 1, "
        "duration: {exponential: {mean: 8min}}}, {recipe: trace, name: z, rates: {c: 1}, gpus: "
        "1, duration: {exponential: {mean: 4min}}}]";
    static const char policies[] =
        "{policy: allox, depth_max: 5}, {policy: allox, name: b, depth_max: 4, alpha: 50%}, "
        "{policy: allox, name: c, depth_max: 5, estimate: noisy, noise: 1}";

    (void)state;
    for (size_t c = 0; c < sizeof cluster / sizeof *cluster; c++)
        same_as_their_oracles(cluster[c], workload, policies);
}

/* Jobs that decode pictures need more cores than their part of a node, by far or by little, and
 * those that read text need one.  Nodes have 3, 6 or 24 cores a GPU, and pools are alike for some
 * jobs.  Some jobs are wider than a node. */
static void synergy_tunes_cores_as_its_description_says(void **state)
{
#define LOADER_NODES(NAME, COUNT, GPU, GPUS, SOCKETS) \
    "{name: " NAME ", count: " COUNT ", gpus: {type: " GPU ", count: " GPUS "}, cpu: {type: " \
    "xeon-silver-4310, sockets: " SOCKETS "}, memory: 1TB}"
#define PICTURES(NAME, GPUS, BYTES) \
    "{recipe: net, name: " NAME ", model: resnet-50, micro_batch: 128, batch: 1536, steps: " \
    "{uniform: [50, 1500]}, checkpoint_every: 0, train: {gpus: " GPUS ", cores: 3}, loader: " \
    "{kind: image, size: " BYTES "}}"
#define TEXTS(NAME, GPUS, TYPES) \
    "{recipe: sft, name: " NAME ", model: qwen2.5-0.5b, batch: 64, sequence: 512, steps: " \
    "{uniform: [50, 1500]}, checkpoint_every: 0, train: {gpus: " GPUS ", cores: 3" TYPES "}}"
    static const char *const cluster[] = {
        LOADER_NODES("a", "3", "a100-80", "8", "2"),
        LOADER_NODES("a1", "1", "a100-80", "8", "2") ", "
        LOADER_NODES("a2", "2", "a100-80", "8", "2") ", "
        LOADER_NODES("a3", "1", "a100-80", "4", "2"),
        LOADER_NODES("a1", "3", "a100-80", "4", "1") ", "
        LOADER_NODES("h", "1", "h100", "8", "2") ", "
        LOADER_NODES("a3", "1", "a100-80", "1", "2"),
    };
    static const char *const more[] = {
        "", ", failures: {job_mtbf: 30min, restart: 7s}",
        ", failures: {node_mtbf: 2h, repair: 10min, restart: 20s}",
    };
    static const char workload[] =
        "arrival: {process: poisson, rate: 90/h}, jobs: 40, mix: ["
        PICTURES("p1", "1", "300000") ", " PICTURES("p2", "2", "160000") ", "
        PICTURES("p4", "4", "200000") ", " PICTURES("p6", "6", "160000") ", "
        PICTURES("p12", "12", "130000") ", " TEXTS("t4", "4", "") ", "
        TEXTS("t2", "2", ", types: [a100-80, h100]") "]";
    static const char policies[] =
        "synergy, {policy: synergy, name: b, blocking: skip, loss: 10%}, {policy: synergy, "
        "name: c, loss: 0%, preemption: {cost: 20s}}, {policy: synergy, name: d, blocking: "
        "skip, loss: 35%}";
    char text[1200];

    (void)state;
    for (size_t c = 0; c < sizeof cluster / sizeof *cluster; c++)
        for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
            snprintf(text, sizeof text, "nodes: [%s], storage: {bandwidth: 100GB/s}%s",
                     cluster[c], more[m]);
            same_as_their_oracles(text, workload, policies);
        }
}

/* ---- lucid, simulated by itself ------------------------------------------------ */

/* Kinds are tiny, medium or jumbo beside most others, and some share with nobody.  With a
 * profiler some may run on one side alone, or run at another speed there. */
static void draw_kind(struct rng *rng, const struct plain_lucid *lucid, uint32_t k,
                      struct plain_kind *kind)
{
    static const double level[] = { 0.97, 0.97, 0.88, 0.86, 0.55 };
    static const double there[] = { 1, 1, 0, 0.5, 1.25 };
    static const uint32_t gpus[] = { 1, 1, 1, 2, 2, 4, 6 };
    double base = level[rng_below(rng, 5)];
    uint64_t side = rng_below(rng, 6);

    kind->run_s = (double)(20 + rng_below(rng, 40) * rng_below(rng, 40)) + 0.37 * k;
    kind->gpus = gpus[rng_below(rng, 7)];
    kind->rate[PLAIN_MAIN] = 1;
    if (lucid->profile_s > 0 && kind->gpus <= lucid->gpus[PLAIN_TRY]) {
        kind->rate[PLAIN_TRY] = side < 5 ? there[side] : 1;
        kind->rate[PLAIN_MAIN] = side < 5;
    }
    for (uint32_t other = 0; side > 0 && other < LUCID_KINDS; other++)
        if (rng_below(rng, 5) > 0)
            kind->beside[other] = base + 0.01 * (double)rng_below(rng, 6);
}

static struct plain_lucid draw_lucid(struct rng *rng, bool profiles)
{
    struct plain_lucid lucid = {
        .packs = (enum plain_packs)rng_below(rng, 3), .score_max = (uint32_t)rng_below(rng, 5),
        .gpus_max = 1u << rng_below(rng, 4), .jobs = LUCID_JOBS, .kinds = LUCID_KINDS,
    };
    double now = 0;

    lucid.gpus[PLAIN_MAIN] = 6 + (uint32_t)rng_below(rng, 4);
    if (profiles) {
        lucid.profile_s = 30 + 15 * (double)rng_below(rng, 20);
        lucid.restart_s = (double)(rng_below(rng, 2) * rng_below(rng, 90));
        lucid.gpus[PLAIN_TRY] = 1 + (uint32_t)rng_below(rng, 7);
    }
    for (uint32_t k = 0; k < lucid.kinds; k++)
        draw_kind(rng, &lucid, k, &lucid.kind[k]);
    for (uint32_t j = 0; j < lucid.jobs; j++) {
        now += (double)(rng_below(rng, 3) * rng_below(rng, 90));
        lucid.job[j].submit_s = now;
    }
    return lucid;
}

static size_t write_kind(const struct plain_lucid *lucid, uint32_t k, char *text, size_t room)
{
    const struct plain_kind *kind = &lucid->kind[k];
    const char *before = ", packing: {", *after = "";
    size_t n = 0;

#define ADD(...) (n += (size_t)snprintf(text + n, room - n, __VA_ARGS__))
    ADD("%s{recipe: trace, name: k%u, gpus: %u, duration: %.2fs", k > 0 ? ", " : "", k,
        kind->gpus, kind->run_s);
    for (uint32_t other = 0; other < lucid->kinds; other++)
        if (kind->beside[other] > 0) {
            ADD("%sk%u: %.2f", before, other, kind->beside[other]);
            before = ", ";
            after = "}";
        }
    ADD("%s", after);
    if (lucid->profile_s > 0) {
        ADD(", rates: {");
        if (kind->rate[PLAIN_TRY] > 0)
            ADD("try: %.2f, ", kind->rate[PLAIN_TRY]);
        if (kind->rate[PLAIN_MAIN] > 0)
            ADD("main: %.2f", kind->rate[PLAIN_MAIN]);
        ADD("}");
    }
    ADD("}");
    return n;
}

static void open_lucid(struct world *world, const struct plain_lucid *lucid)
{
    static const char *const packs[] = { "loaded", "always", "never" };
    char text[8192];
    size_t n = 0, room = sizeof text;

    ADD("experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [");
    if (lucid->profile_s > 0)
        ADD("{name: try, count: %u, gpus: {type: generic, count: 1}}, ", lucid->gpus[PLAIN_TRY]);
    ADD("{name: main, count: %u, gpus: {type: generic, count: 1}}]}\nworkload: {jobs: %u, "
        "arrival: {process: fixed, times: [", lucid->gpus[PLAIN_MAIN], lucid->jobs);
    for (uint32_t j = 0; j < lucid->jobs; j++)
        ADD("%s%.0fs", j > 0 ? ", " : "", lucid->job[j].submit_s);
    ADD("]}, mix: [");
    for (uint32_t k = 0; k < lucid->kinds; k++)
        n += write_kind(lucid, k, text + n, room - n);
    ADD("]}\npolicies: [{policy: lucid, placement: count, packs: %s", packs[lucid->packs]);
    if (lucid->packs != PLAIN_NEVER)
        ADD(", score_max: %u, gpus_max: %u", lucid->score_max, lucid->gpus_max);
    if (lucid->profile_s > 0)
        ADD(", profiler: try, profile: %.0fs, preemption: {cost: %.0fs}", lucid->profile_s,
            lucid->restart_s);
    ADD("}]\n");
#undef ADD
    assert_true(n < room);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

/* Each job of the product begins and ends when the one of the oracle does. */
static void lucid_does_as_its_oracle(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, "lucid", 0);
    for (int i = 0; i < 200; i++) {
        struct plain_lucid lucid = draw_lucid(&rng, i % 2 == 1);
        struct world world = { 0 };
        struct family_run run;

        open_lucid(&world, &lucid);
        if (!family_run(&world, 0, &run))
            fail_msg("case %d: %s", i, world_error(&world));
        struct rows rows = rows_of(run.jobs);
        while (rows_next(&rows)) {
            char kind[256];
            rows_text(&rows, "kind", kind);
            lucid.job[(int)rows_number(&rows, "job")].kind = (uint32_t)atoi(kind + 1);
        }
        plain_lucid_run(&lucid);
        rows = rows_of(run.jobs);
        while (rows_next(&rows)) {
            uint32_t j = (uint32_t)rows_number(&rows, "job");
            if (!(fabs(rows_number(&rows, "start_s") - lucid.job[j].start_s) < 1e-3) ||
                !(fabs(rows_number(&rows, "end_s") - lucid.job[j].end_s) < 1e-3))
                fail_msg("case %d: job %u, of k%u: %g to %g, not %g to %g", i, j,
                         lucid.job[j].kind, rows_number(&rows, "start_s"),
                         rows_number(&rows, "end_s"), lucid.job[j].start_s,
                         lucid.job[j].end_s);
        }
        family_drop(&run);
        world_close(&world);
    }
}

/* ---- the program of shockwave ------------------------------------------------ */

static void plan_windows_alike(uint32_t gpus, const struct world_job *job, uint32_t jobs,
                               const char *policy, int at)
{
    struct world_job a[8], b[8];
    struct world world = { 0 };

    assert_true(world_trace(&world, 1, gpus, job, jobs, policy));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    struct host_policy slow = *spec.policy;
    slow.policy = &plain_shockwave_policy;
    assert_true(slow.policy->self_bytes <= spec.policy->policy->self_bytes);
    if (!world_run(&world, 0, NULL, a, NULL) || !world_run(&world, 0, &slow, b, NULL))
        fail_msg("%s", world_error(&world));
    for (uint32_t j = 0; j < jobs; j++)
        if (a[j].start_s != b[j].start_s || a[j].end_s != b[j].end_s)
            fail_msg("case %d, %s: job %u", at, policy, j);
    world_close(&world);
}

/* With a rho_max of 100 nobody is late; with less, fairness bounds the plan, or jobs
 * that are late count more.  Lengths are whole rounds: a late job in its last part of a
 * round counts up to 10^12 times as much, which hides the others from a solver. */
static void a_window_is_planned_as_by_the_simplex_method(void **state)
{
    static const int64_t at[] = { 0, 0, 120, 600, 1200 };
    static const int64_t run[] = { 240, 600, 1320, 2400, 4680, 12000 };
    static const char *const policy[] = {
        "[{policy: shockwave, rho_max: 100}]",
        "[{policy: shockwave, rho_max: 1.87, lambda: 2}]",
        "[{policy: shockwave, rho_max: 1.21, lambda: 3}]",
    };
    struct rng rng;

    (void)state;
    rng_init(&rng, 9, "windows", 0);
    for (int i = 0; i < 90; i++) {
        struct world_job job[5];
        uint32_t jobs = 2 + (uint32_t)rng_below(&rng, 4);
        int64_t now = at[rng_below(&rng, 5)];

        for (uint32_t j = 0; j < jobs; j++, now += at[rng_below(&rng, 5)])
            job[j] = (struct world_job) {
                .submit_s = now, .duration_s = run[rng_below(&rng, 6)],
                .gpus = 1 };
        plan_windows_alike(1, job, jobs, policy[i % 3], i);
    }
}

/* Up to three GPUs, gangs of two, and windows of 4 rounds and more.  Fairness bounds some plans
 * that do all that it asks for. */
static void windows_of_gangs_are_planned_as_by_the_simplex_method(void **state)
{
    struct rng rng;
    char policy[120];

    (void)state;
    rng_init(&rng, 9, "fair", 0);
    for (int i = 0; i < 150; i++) {
        struct world_job job[5];
        uint32_t jobs = 2 + (uint32_t)rng_below(&rng, 4), gpus = 1 + (uint32_t)rng_below(&rng, 3);
        int64_t now = 0;

        for (uint32_t j = 0; j < jobs; j++) {
            job[j] = (struct world_job) {
                .submit_s = now, .duration_s = 120 * (1 + (int64_t)(rng_below(&rng, 9) *
                                                                    rng_below(&rng, 9))),
                .gpus = 1 + (uint32_t)rng_below(&rng, gpus < 2 ? gpus : 2) };
            now += 120 * (int64_t)rng_below(&rng, 12) + 37 * (int64_t)rng_below(&rng, 2);
        }
        snprintf(policy, sizeof policy, "[{policy: shockwave, rho_max: %.2f, lambda: %u, window: "
                 "%u, k: %.4f}]", 1.1 + 0.01 * (double)rng_below(&rng, 300),
                 1 + (uint32_t)rng_below(&rng, 5), 4 + (uint32_t)rng_below(&rng, 17),
                 0.0001 * (double)rng_below(&rng, 20));
        plan_windows_alike(gpus, job, jobs, policy, i);
    }
}

/* Eight jobs of as many lengths, whose fractions of rounds often are equal, and gangs for which
 * there is no room while there is for others. */
static void fractions_of_rounds_go_to_the_largest_that_has_room(void **state)
{
    struct rng rng;
    char policy[80];

    (void)state;
    rng_init(&rng, 9, "fractions", 0);
    for (int i = 0; i < 70; i++) {
        struct world_job job[8];

        for (uint32_t j = 0; j < 8; j++)
            job[j] = (struct world_job) {
                .duration_s = 120 * (2 * j + (int64_t)rng_below(&rng, 2)) +
                              30 * (1 + (int64_t)rng_below(&rng, 3)),
                .gpus = 1 + (uint32_t)rng_below(&rng, 3) };
        snprintf(policy, sizeof policy, "[{policy: shockwave, rho_max: 100, window: %u}]",
                 3 + (uint32_t)rng_below(&rng, 6));
        plan_windows_alike(3 + (uint32_t)rng_below(&rng, 3), job, 8, policy, i);
    }
}

/* ---- jobs that are alike ----------------------------------------------------- */

/* Six on four GPUs: the first four, and they stay where they are. */
static void sia_begins_with_the_oldest_of_equal_jobs(void **state)
{
    const struct world_job job[] = {
        { 0, 600, 1, 0, 0 }, { 0, 600, 1, 0, 0 }, { 0, 600, 1, 0, 0 },
        { 0, 600, 1, 0, 0 }, { 0, 600, 1, 0, 0 }, { 0, 600, 1, 0, 0 },
    };
    struct world_job out[6];
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace(&world, 1, 4, job, 6, "[sia]"));
    if (!world_run(&world, 0, NULL, out, NULL))
        fail_msg("%s", world_error(&world));
    for (int i = 0; i < 6; i++)
        assert_true(out[i].start_s == (i < 4 ? 0 : 600) &&
                    out[i].end_s == (i < 4 ? 600 : 1200));
    world_close(&world);
}

/* Sizes that do not add up and many of each: a program that took them one by one
 * would go through all their permutations. */
static void sia_deals_many_equal_jobs(void **state)
{
    struct world_job job[120], out[120];
    struct trial_result result;
    struct world world = { 0 };

    (void)state;
    for (uint32_t i = 0; i < 120; i++)
        job[i] = (struct world_job) { .duration_s = 3600, .gpus = 1 + i % 5 };
    assert_true(world_trace(&world, 4, 7, job, 120, "[sia]"));
    if (!world_run(&world, 0, NULL, out, &result))
        fail_msg("%s", world_error(&world));
    assert_true(result.value[METRIC_JOBS_DONE] == 120);
    assert_true(result.value[METRIC_PREEMPTIONS] == 0);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_those_of_a_look_at_everything),
        cmocka_unit_test(afs_deals_to_jobs_of_many_curves_as_its_contest_does),
        cmocka_unit_test(afs_keeps_what_its_contest_would_deal_again),
        cmocka_unit_test(elasticflow_fills_slots_as_if_one_by_one),
        cmocka_unit_test(plans_for_mixed_gpus_are_those_of_a_look_at_everything),
        cmocka_unit_test(sia_deals_what_is_best_of_all_combinations),
        cmocka_unit_test(allox_matches_jobs_as_the_best_of_all_ways),
        cmocka_unit_test(synergy_tunes_cores_as_its_description_says),
        cmocka_unit_test(lucid_does_as_its_oracle),
        cmocka_unit_test(a_window_is_planned_as_by_the_simplex_method),
        cmocka_unit_test(windows_of_gangs_are_planned_as_by_the_simplex_method),
        cmocka_unit_test(fractions_of_rounds_go_to_the_largest_that_has_room),
        cmocka_unit_test(sia_begins_with_the_oldest_of_equal_jobs),
        cmocka_unit_test(sia_deals_many_equal_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
