/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chaos_test.c - random clusters, random jobs with phases, and policies that
 * mean no good: the audit holds, no job is lost, nothing hangs, and the same
 * world runs twice to the same event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "experiments/run/trial.h"
#include "models/types/facts.h"
#include "policies/phases.h"
#include "policies/resize.h"
#include "sim/event/journal.h"
#include "tests/aid/family_aid.h"

#define WORLDS 40
#define EVENTS_MAX 3000000      /* a run takes some thousands */

/* Appends to a text of fixed room. */
struct writer {
    char text[6000];
    size_t used;
};

static void put(struct writer *writer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(writer->text + writer->used,
                      sizeof writer->text - writer->used, format, args);
    va_end(args);
    assert_true(n >= 0);
    writer->used += (size_t)n;
    assert_true(writer->used < sizeof writer->text);
}

static const char *pick(struct rng *rng, const char *const *word,
                        uint64_t count)
{
    return word[rng_below(rng, count)];
}

/* Draws stand in statements of their own: in which order the arguments of a
 * call are worked out is the compiler's choice. */
static unsigned draw(struct rng *rng, unsigned low, unsigned count)
{
    return low + (unsigned)rng_below(rng, count);
}

static void put_cluster(struct writer *writer, struct rng *rng)
{
    static const char *const type[] = { "l40s", "a100-80", "h100", "l4" };
    static const char *const pool[] = { "rollout", "train", "spare" };
    unsigned pools = draw(rng, 1, 3);

    put(writer, "cluster: {nodes: [");
    for (unsigned p = 0; p < pools; p++) {
        unsigned nodes = draw(rng, 2, 2), nics = draw(rng, 1, 4);
        const char *gpu = pick(rng, type, 4);
        put(writer,
            "%s{name: %s, count: %u, gpus: {type: %s, count: 8}, cpu: "
            "{type: epyc-7763, sockets: 2}, memory: 1536GB, nics: {type: "
            "ethernet-100, count: %u}}", p ? ", " : "", pool[p], nodes, gpu,
            nics);
    }
    if (rng_below(rng, 2))
        put(writer, ", {name: cpu, count: 1, cpu: {type: epyc-7763}, memory: "
                    "512GB, nics: {type: ethernet-100}}");
    unsigned thinner = draw(rng, 1, 3), gigabytes = draw(rng, 1, 20);
    put(writer, "], network: {leaf: 16 nodes, oversubscription: %u}, "
                "storage: {bandwidth: %uGB/s}}\n", thinner, gigabytes);
}

static unsigned gpus(struct rng *rng)
{
    return 1u << rng_below(rng, 4);
}

static void put_alignment(struct writer *writer, struct rng *rng)
{
    static const char *const recipe[] = { "dpo", "grpo" };
    static const char *const start[] = { "process", "wake" };
    const char *which = pick(rng, recipe, 2);
    unsigned priority = draw(rng, 0, 3), prompts = draw(rng, 8, 64);
    unsigned mean = draw(rng, 32, 99), every = draw(rng, 0, 3);

    put(writer,
        "{recipe: %s, name: align, priority: %u, model: qwen2.5-0.5b, "
        "prompts: %u, prompt_tokens: 128, response: {mean: %u, cv: 1, max: "
        "512}, steps: {uniform: [1, 6]}, checkpoint_every: %u, ",
        which, priority, prompts, mean, every);
    if (rng_below(rng, 2))
        put(writer, "reward: {on: cpu, core_time: 50ms}, ");
    unsigned rollout = gpus(rng), train = gpus(rng), cores = draw(rng, 1, 16);
    const char *engine = pick(rng, start, 2), *trainer = pick(rng, start, 2);
    put(writer,
        "rollout: {gpus: %u, min: 1, max: 8, start: %s}, train: {gpus: %u, "
        "min: 1, max: 8, start: %s}, data: {cores: %u}}",
        rollout, engine, train, trainer, cores);
}

static void put_workload(struct writer *writer, struct rng *rng)
{
    static const char *const arrival[] = {
        "{process: all_at_once}", "{process: poisson, rate: 120/h}",
        "{process: fixed, every: 20s}",
        "{process: gamma, rate: 200/h, cv: 3}"
    };
    const char *process = pick(rng, arrival, 4);
    unsigned jobs = draw(rng, 2, 12), train = gpus(rng), infer = gpus(rng);

    put(writer, "workload: {arrival: %s, jobs: %u, mix: [", process, jobs);
    put_alignment(writer, rng);
    put(writer,
        ", {recipe: sft, model: qwen2.5-0.5b, batch: 16, sequence: 512, "
        "steps: {uniform: [20, 200]}, train: {gpus: %u}}", train);
    put(writer,
        ", {recipe: batch-infer, priority: 1, model: qwen2.5-1.5b, prompts: "
        "256, prompt_tokens: 200, response: {mean: 100, cv: 1, max: 400}, "
        "steps: {uniform: [1, 4]}, infer: {gpus: %u, min: 1, max: 8}}]}\n",
        infer);
}

static void make_world(struct world *world, uint64_t seed)
{
    static const char *const placement[] = { "first_fit", "best_fit", "pack",
                                             "spread" };
    struct writer writer = { .used = 0 };
    struct rng rng;

    rng_init(&rng, seed, "chaos", 0);
    put(&writer, "experiment: chaos\nseed: %u\nseeds: 1\nuntil: drained\n"
                 "event_count_max: %d\n", (unsigned)seed, EVENTS_MAX);
    put_cluster(&writer, &rng);
    put_workload(&writer, &rng);
    const char *rule = pick(&rng, placement, 4);
    double run_weight = rng_uniform(&rng) - 0.5;
    put(&writer,
        "policies: [{policy: fcfs, placement: %s}, {policy: static, "
        "blocking: skip, placement: %s}, {policy: dynamic, placement: %s}, "
        "{policy: hybrid, placement: %s}, {policy: learned, placement: %s, "
        "weights: {run: %g, switch: -1, evict: -2, age: 0.5, grows: 0.3, "
        "start: 1}}, {policy: random, placement: %s}, {policy: srtf, "
        "placement: %s, preemption: {cost: 5s}}]\n",
        rule, rule, rule, rule, rule, run_weight, rule, rule);
    if (!world_open(world, writer.text)) {
        print_message("%s", writer.text);
        fail_msg("seed %u: %s", (unsigned)seed, world_error(world));
    }
}

/* ---- a policy that does anything it may -------------------------------- */

#define STOPS_MAX 20            /* or a job that loads slowly never starts */

struct chaos {
    uint32_t stops, changes;
};

static void chaos_task(struct cs_host *host, struct task_id task)
{
    const struct cs_task *pub = cs_task(host, task);
    struct cs_want want = { .take_idle = cs_random(host) < 0.5 };
    struct cs_forecast f;

    if (cs_random(host) < 0.3)
        want.pool_mask = (uint32_t)(cs_random(host) * 8);
    if (cs_random(host) < 0.3)
        want.gpus = 1u << (uint32_t)(cs_random(host) * 4);
    if (cs_random(host) < 0.3)
        want.idle_ns = (int64_t)(cs_random(host) * 20e9);

    if (cs_forecast(host, task, &want, &f)) {
        assert_true(f.run_s >= 0 && f.switch_s >= 0 && f.evict_s >= 0);
        assert_true(f.usd >= 0);
    }
    if (pub->held.i != ID_NONE && cs_random(host) < 0.5)
        assert_int_equal(cs_continue(host, task), CS_DONE);
    else
        cs_start_want(host, task, &want);
}

static void chaos_change(struct cs_host *host)
{
    struct lease_id lease = cs_lease_at(
        host, (uint32_t)(cs_random(host) * cs_lease_count(host)));
    struct cs_want want = { .pool_mask = (uint32_t)(cs_random(host) * 8) };

    if (cs_random(host) < 0.5)
        cs_move(host, lease, &want);
    else
        cs_resize(host, lease, (uint32_t)(cs_random(host) * 10));
}

static void chaos_decide(void *self, struct cs_host *host)
{
    struct cs_want anywhere = { .take_idle = true };
    struct chaos *chaos = self;

    if (cs_lease_count(host) > 0 && cs_random(host) < 0.3)
        cs_release(host, cs_lease_at(host, (uint32_t)(cs_random(host) *
                                                      cs_lease_count(host))));
    if (cs_running_count(host) > 0 && chaos->stops < STOPS_MAX &&
        cs_random(host) < 0.05 && ++chaos->stops)
        cs_stop(host, cs_running(host, (uint32_t)(cs_random(host) *
                                                  cs_running_count(host))));
    if (cs_lease_count(host) > 0 && chaos->changes < STOPS_MAX &&
        cs_random(host) < 0.2 && ++chaos->changes)
        chaos_change(host);
    for (uint32_t tries = cs_pending_count(host);
         tries > 0 && cs_pending_count(host) > 0; tries--)
        chaos_task(host, cs_pending(host,
                                    (uint32_t)(cs_random(host) *
                                               cs_pending_count(host))));
    if (cs_random(host) < 0.5)  /* what is left, or waits for a while */
        for (uint32_t i = 0; i < cs_pending_count(host);)
            if (cs_start_want(host, cs_pending(host, i), &anywhere) !=
                CS_DONE)
                i++;
    if (cs_pending_count(host) > 0)
        cs_wake_at(host, cs_now_ns(host) + 5 * CLOCK_NS_PER_S);
}

static void chaos_idle(void *self, struct cs_host *host,
                       struct lease_id lease)
{
    (void)self;
    if (cs_random(host) < 0.2)
        cs_release(host, lease);
}

static const struct cs_policy chaos_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof chaos_policy,
    .name = "chaos", .summary = "anything that is allowed, at random",
    .flags = CS_PER_PHASE | CS_PREEMPTS | CS_RESIZES | CS_DRAWS,
    .self_bytes = sizeof(struct chaos), .decide = chaos_decide,
    .lease_idle = chaos_idle,
};

/* ---- what must hold ---------------------------------------------------- */

#define BIT(kind) (UINT64_C(1) << (kind))
#define OF_NODES (BIT(FACT_NODE_DOWN) | BIT(FACT_NODE_UP) | BIT(FACT_RENT_ORDER) | \
                  BIT(FACT_RENT_UP) | BIT(FACT_RENT_NOTICE) | BIT(FACT_RENT_END) | \
                  BIT(FACT_RENT_TAKEN))

struct heard {
    uint64_t came;              /* kinds of facts */
    double withdrawn[4];        /* GPUs of a rented node, in a world where each node has 4 */
};

/* What facts.h leaves blank of a fact is 0. */
static void check_blanks(void *self, const struct fact *fact)
{
    static const uint64_t no_object = OF_NODES | BIT(FACT_JOB_SUBMIT) | BIT(FACT_JOB_START) |
                                      BIT(FACT_JOB_STOP) | BIT(FACT_DECIDE) |
                                      BIT(FACT_LEASE_BUSY);
    static const uint64_t no_amount = BIT(FACT_JOB_END) | BIT(FACT_PHASE_START) |
                                      BIT(FACT_JOB_STOP) | BIT(FACT_LEASE_READY) |
                                      BIT(FACT_LEASE_LEAVE);
    struct heard *heard = self;
    uint64_t kind = BIT(fact->kind);

    heard->came |= kind;
    if ((no_object & kind && fact->object != 0) || (no_amount & kind && fact->amount != 0) ||
        (fact->kind == FACT_DECIDE && fact->subject != 0))
        fail_msg("fact %u: %u %u %g", fact->kind, fact->subject, fact->object, fact->amount);
}

/* Of a node with 4 GPUs all go, come or are billed; a rented one has given back 4 at its end. */
static void check_nodes(void *self, const struct fact *fact)
{
    struct heard *heard = self;
    double *withdrawn = &heard->withdrawn[fact->subject];

    assert_true(fact->subject < 4);
    if (fact->kind != FACT_RENT_NOTICE && fact->kind != FACT_RENT_TAKEN &&
        fact->kind != FACT_RENT_END) {
        assert_true(fact->amount == 4);
        return;
    }
    *withdrawn += fact->amount;
    assert_true(*withdrawn <= 4);
    if (fact->kind == FACT_RENT_END) {
        assert_true(*withdrawn == 4);
        *withdrawn = 0;
    }
}

/* Runs a trial and listens to its facts. */
static struct heard run_again(struct world *world, const struct trial_spec *spec,
                              uint64_t of_four, struct trial_result *result)
{
    struct trial_tables none = { 0 };
    struct trial *trial = trial_open(spec, &none, &world->err);
    struct heard heard = { 0 };

    assert_non_null(trial);
    journal_listen(trial_journal(trial), BIT(FACT_KIND_COUNT) - 1, check_blanks, &heard);
    if (of_four != 0)
        journal_listen(trial_journal(trial), of_four, check_nodes, &heard);
    while (trial_go(trial) != TRIAL_OVER) {}
    assert_true(trial_close(trial, result, &world->err));
    return heard;
}

static void holds(struct world *world, const struct trial_spec *spec,
                  uint64_t seed)
{
    struct trial_tables none = { 0 };
    struct trial_result one, two;
    double sum = 0;

    if (!trial_run(spec, &none, &one, &world->err))
        fail_msg("world %u, %s: %s", (unsigned)seed, spec->policy->name,
                 world_error(world));
    if (one.value[METRIC_JOBS_DONE] != one.value[METRIC_JOBS])
        fail_msg("world %u, %s: %g of %g jobs done", (unsigned)seed,
                 spec->policy->name, one.value[METRIC_JOBS_DONE],
                 one.value[METRIC_JOBS]);
    for (int m = METRIC_GPU_BUSY; m <= METRIC_GPU_IDLE_EMPTY; m++)
        sum += one.value[m];
    if (!(sum > 1 - 1e-9 && sum < 1 + 1e-9))
        fail_msg("world %u, %s: GPU time adds up to %.17g", (unsigned)seed,
                 spec->policy->name, sum);
    run_again(world, spec, 0, &two);
    assert_true(one.digest == two.digest);
    assert_true(one.event_count == two.event_count);
    for (int m = 0; m < METRIC_COUNT; m++)
        assert_memory_equal(&one.value[m], &two.value[m], sizeof(double));
}

static void any_policy_on_any_world_loses_no_job_and_repeats(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct world world = { 0 };
        make_world(&world, seed);
        for (uint32_t t = 0; t < experiment_trial_count(world.experiment); t++) {
            struct trial_spec spec = experiment_trial_spec(world.experiment, t);
            holds(&world, &spec, seed);
        }
        world_close(&world);
    }
}

static void chaos_on_any_world_loses_no_job_and_repeats(void **state)
{
    struct host_policy policy = world_policy(&chaos_policy);

    (void)state;
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct world world = { 0 };
        make_world(&world, seed);
        struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
        policy.rules.placement = spec.policy->rules.placement;
        spec.policy = &policy;
        for (spec.replica = 0; spec.replica < 3; spec.replica++)
            holds(&world, &spec, seed);
        world_close(&world);
    }
}

/* Nodes of 4 GPUs fail and are reclaimed while jobs run on them: each kind of fact comes. */
static void facts_leave_blank_what_they_do_not_say(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: "
            "n, count: 2, gpus: {type: generic, count: 4}}, {name: m, count: 2, gpus: {type: "
            "generic, count: 4}, price: 2USD/h, rent: {start: 2m, keep: 5m, reclaim: 1h, notice: "
            "3m}}], failures: {node_mtbf: 8h, job_mtbf: 9h, repair: 10m, restart: 30s}}\n"
            "workload: {arrival: {process: poisson, rate: 20/h}, jobs: 60, mix: [{recipe: trace, "
            "name: j, duration: {lognormal: {mean: 60m, cv: 1}}, gpus: {choice: {1: 1, 4: 2}}}]}\n"
            "policies: [srtf]\n"))
        fail_msg("%s", world_error(&world));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    uint64_t came = run_again(&world, &spec, OF_NODES, &result).came;
    if ((came & OF_NODES) != OF_NODES)
        fail_msg("%llx", (unsigned long long)(OF_NODES & ~came));
    assert_true(came & BIT(FACT_JOB_START) && came & BIT(FACT_JOB_STOP));
    assert_true(came & BIT(FACT_JOB_INTERRUPT) && came & BIT(FACT_DECIDE));
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_policy_on_any_world_loses_no_job_and_repeats),
        cmocka_unit_test(chaos_on_any_world_loses_no_job_and_repeats),
        cmocka_unit_test(facts_leave_blank_what_they_do_not_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
