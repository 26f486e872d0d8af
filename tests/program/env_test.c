/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * env_test.c - trials that stop where a policy decides: the same bytes as a policy that
 * decides alike, masks that say the truth, rewards that sum to a metric.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/columns/metric.h"
#include "experiments/env/env.h"
#include "experiments/env/episode.h"
#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/resize.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"

static const char small[] =
    "experiment: small\n"
    "seeds: 2\n"
    "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}\n"
    "workload:\n"
    "  arrival: {process: poisson, rate: 60/h}\n"
    "  jobs: 60\n"
    "  mix:\n"
    "    - {recipe: trace, name: part, share: 2, gpus: 4,\n"
    "       duration: {lognormal: {mean: 10min, cv: 1}, min: 1s, max: 1h}}\n"
    "    - {recipe: trace, name: node, share: 1, gpus: 8, duration: 14min}\n"
    "policies: [fcfs]\n";

/* Two pools, of which one has two types; three phases, on roles that may go to both. */
static const char phased[] =
    "experiment: phased\n"
    "seeds: 2\n"
    "cluster:\n"
    "  nodes:\n"
    "    - {name: gen, count: 1, gpus: {type: l40s, count: 8}, cpu: {type: epyc-7742},\n"
    "       memory: 1TB, price: 8USD/h, nics: {type: ib-hdr, count: 1}}\n"
    "    - {name: gen2, pool: gen, count: 1, gpus: {type: a100-80, count: 8},\n"
    "       cpu: {type: epyc-7742}, memory: 1TB, price: 16USD/h,\n"
    "       nics: {type: ib-hdr, count: 1}}\n"
    "    - {name: train, count: 1, gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7742},\n"
    "       memory: 1TB, price: 16USD/h, nics: {type: ib-hdr, count: 1}}\n"
    "  storage: {bandwidth: 20GB/s}\n"
    "workload:\n"
    "  arrival: {process: poisson, rate: 6/h}\n"
    "  jobs: 6\n"
    "  mix:\n"
    "    - recipe: grpo\n"
    "      name: grpo\n"
    "      share: 1\n"
    "      model: qwen2.5-1.5b\n"
    "      method: full\n"
    "      zero: 3\n"
    "      recompute: full\n"
    "      micro_batch: 1\n"
    "      prompts: 32\n"
    "      responses: 4\n"
    "      prompt_tokens: 256\n"
    "      response: {mean: 300, cv: 0.5, max: 2048}\n"
    "      reward: {on: cpu, core_time: 20ms}\n"
    "      steps: 4\n"
    "      rollout: {gpus: 4, types: [l40s, a100-80]}\n"
    "      train: {gpus: 4, types: [a100-80]}\n"
    "      data: {cores: 4}\n"
    "policies: [dynamic]\n";

/* Replicas of a service come and go with its requests, and wait for GPUs that jobs hold. */
static const char served[] =
    "experiment: served\n"
    "seeds: 1\n"
    "cluster: {nodes: [{name: a, count: 1, gpus: {type: l40s, count: 3},\n"
    "                   cpu: {type: epyc-7742, sockets: 1}, memory: 1TB}]}\n"
    "workload:\n"
    "  services:\n"
    "    - name: chat\n"
    "      model: llama-3.1-8b\n"
    "      gpu: {tp: 1, cores: 4}\n"
    "      replicas: {min: 1, max: 6}\n"
    "      requests:\n"
    "        arrival: {process: diurnal, rate: 5/s, amplitude: 0.9, peak: 30min,\n"
    "                  period: 1h}\n"
    "        prompt: 500\n"
    "        output: 200\n"
    "        for: 1h\n"
    "      scaling: {signal: concurrency, target: 4, interval: 15s, down: 1min}\n"
    "  arrival: {process: poisson, rate: 30/h}\n"
    "  jobs: 20\n"
    "  mix: [{recipe: trace, name: part, gpus: 1, duration: {exponential: {mean: 10min}}}]\n"
    "policies: [fcfs]\n";

/* ---- an environment with its answers ---- */

struct field {
    struct clustersim_env *env;
    const struct clustersim_env_shape *shape;
    struct clustersim_env_out out;
};

static struct clustersim_env_options options_of(const char *text)
{
    struct clustersim_env_options options = { .size_bytes = sizeof options };

    options.text = text;
    return options;
}

static struct field open_field(const struct clustersim_env_options *options)
{
    struct field field = { .env = clustersim_env_open("within.yaml", options) };
    const struct clustersim_env_shape *shape = clustersim_env_shape(field.env);

    if (clustersim_env_error(field.env) != NULL)
        fail_msg("%s", clustersim_env_error(field.env)->text);
    field.shape = shape;
    field.out = (struct clustersim_env_out){
        calloc((size_t)shape->count * shape->floats, sizeof(float)),
        calloc((size_t)shape->count * shape->actions, 1),
        calloc(shape->count, sizeof(double)), calloc(shape->count, 1),
        calloc(shape->count, 1), calloc(shape->count, 1)
    };
    return field;
}

static void close_field(struct field *field)
{
    free(field->out.observation);
    free(field->out.mask);
    free(field->out.reward);
    free(field->out.terminated);
    free(field->out.truncated);
    free(field->out.verdict);
    clustersim_env_close(field->env);
}

static void reset(struct field *field, uint32_t i, uint64_t seed)
{
    if (!clustersim_env_reset(field->env, i, seed, &field->out))
        fail_msg("%s", clustersim_env_error(field->env)->text);
}

static void step(struct field *field, const int64_t *action)
{
    if (!clustersim_env_step(field->env, action, &field->out))
        fail_msg("%s", clustersim_env_error(field->env)->text);
}

/* ---- agents: they see numbers, and nothing else ---- */

typedef int64_t agent_fn(const struct clustersim_env_shape *shape, const float *observation,
                         const uint8_t *mask, struct rng *rng);

static int64_t first_or_wait(const struct clustersim_env_shape *shape,
                             const float *observation, const uint8_t *mask, struct rng *rng)
{
    (void)observation;
    (void)rng;
    return mask[0] ? 0 : shape->actions - 1;
}

static int64_t first_that_fits(const struct clustersim_env_shape *shape,
                               const float *observation, const uint8_t *mask,
                               struct rng *rng)
{
    (void)observation;
    (void)rng;
    for (uint32_t a = 0; a < shape->rows * shape->choices; a += shape->choices)
        if (mask[a])
            return a;
    return shape->actions - 1;
}

/* Feature 3 of a row is its estimate. */
static int64_t shortest_or_wait(const struct clustersim_env_shape *shape,
                                const float *observation, const uint8_t *mask,
                                struct rng *rng)
{
    uint32_t best = 0;

    (void)rng;
    for (uint32_t r = 1; r < shape->rows; r++)
        if (observation[r * shape->row_features] > 0 &&
            observation[r * shape->row_features + 3] <
                observation[best * shape->row_features + 3])
            best = r;
    return mask[best * shape->places] ? best * shape->places : shape->actions - 1;
}

static int64_t any_allowed(const struct clustersim_env_shape *shape, const float *observation,
                           const uint8_t *mask, struct rng *rng)
{
    uint32_t met = 0, taken = shape->actions - 1;

    (void)observation;
    for (uint32_t a = 0; a < shape->actions; a++)
        if (mask[a] && rng_below(rng, ++met) == 0)
            taken = a;
    return taken;
}

/* Steps trial 0 to its end; returns the sum of its rewards. */
static double play(struct field *field, uint64_t seed, agent_fn *agent)
{
    struct rng rng;
    double sum = 0;

    rng_init(&rng, seed, "agent", 0);
    reset(field, 0, seed);
    while (!field->out.terminated[0] && !field->out.truncated[0]) {
        int64_t action = agent(field->shape, field->out.observation, field->out.mask, &rng);
        step(field, &action);
        assert_int_equal(field->out.verdict[0], CS_DONE);
        sum += field->out.reward[0];
    }
    return sum;
}

/* ---- the same bytes as a policy that decides alike ---- */

/* The result of seed `seed` of the only policy of the experiment. */
static struct trial_result built_in(const char *text, const char *policies,
                                    const struct cs_policy *guest, uint32_t seed)
{
    struct arena *arena = arena_new(1 << 16);
    struct registry_guest guests[] = { { guest == NULL ? "" : guest->name, guest, 1 } };
    struct experiment_options options = {
        .text = text, .policies = policies, .program_hash = 1, .guest = guests,
        .guest_count = guest != NULL
    };
    struct trial_tables none = { 0 };
    struct trial_result result;
    struct err err = { 0 };
    const struct experiment *experiment =
        experiment_read(arena, "within.yaml", &options, &err);

    if (experiment == NULL)
        fail_msg("%s", err.text);
    struct trial_spec spec = experiment_trial_spec(experiment, seed);
    spec.by_host = true;
    if (!trial_run(&spec, &none, &result, &err))
        fail_msg("%s", err.text);
    arena_free(arena);
    return result;
}

static struct trial_result played(const struct clustersim_env_options *options,
                                  uint32_t seed, agent_fn *agent)
{
    struct field field = open_field(options);
    struct trial_result result = { .event_count = 0 };

    play(&field, seed, agent);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (!clustersim_env_metric(field.env, 0, metric_info(NULL, m)->name,
                                   &result.value[m]))
            result.value[m] = NAN;
    close_field(&field);
    return result;
}

/* Why GPUs stood idle while work waited: a table says whether its policy keeps an order,
 * and an agent's does not. */
static bool is_told_by_the_table(int m)
{
    const char *name = metric_info(NULL, m)->name;

    return strcmp(name, "gpu_fragment_fraction") == 0 ||
           strcmp(name, "gpu_head_of_line_fraction") == 0 ||
           strcmp(name, "gpu_idle_queued_fraction") == 0;      /* their sum, rounded */
}

static void assert_alike(const struct trial_result *a, const struct trial_result *b,
                         bool of_the_table)
{
    uint32_t known = 0;

    for (int m = 0; m < METRIC_COUNT; m++) {
        known += !isnan(a->value[m]);
        if (!of_the_table && is_told_by_the_table(m))
            continue;
        if (isnan(a->value[m]) != isnan(b->value[m]) ||
            (!isnan(a->value[m]) && a->value[m] != b->value[m]))
            fail_msg("%s: %.17g and %.17g", metric_info(NULL, m)->name, a->value[m],
                     b->value[m]);
    }
    assert_true(known > 40);
}

static void an_agent_gives_what_the_policy_that_it_copies_gives(void **state)
{
    static const struct {
        const char *policies, *rules;
        agent_fn *agent;
    } pair[] = {
        { "[fcfs]", NULL, first_or_wait },
        { "[{policy: fcfs, placement: count}]", "{placement: count}", first_or_wait },
        { "[{policy: fcfs, blocking: skip}]", NULL, first_that_fits },
        { "[{policy: fcfs, placement: random}]", "{placement: random}", first_or_wait },
        { "[{policy: fcfs, rounds: {length: 6min}}]", "{rounds: {length: 6min}}", first_or_wait },
        { "[sjf]", NULL, shortest_or_wait },
    };

    (void)state;
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
        for (uint32_t seed = 0; seed < 2; seed++) {
            struct clustersim_env_options options = options_of(small);
            struct trial_result theirs = built_in(small, pair[i].policies, NULL, seed);

            options.split = CLUSTERSIM_ENV_TEST;
            options.rules = pair[i].rules;
            struct trial_result ours = played(&options, seed, pair[i].agent);
            assert_alike(&theirs, &ours, false);
        }
}

/* In order; each as asked, where it is or on what is free or idle. */
static void decide_in_order(void *self, struct cs_host *host)
{
    const struct cs_want want = { .take_idle = true };
    uint32_t i = 0;

    (void)self;
    while (i < cs_pending_count(host)) {
        struct task_id task = cs_pending(host, i);
        enum cs_verdict verdict = cs_task(host, task)->held.i != ID_NONE
                                      ? cs_start(host, task)
                                      : cs_start_want(host, task, &want);
        i = verdict == CS_DONE ? 0 : i + 1;
    }
}

static const struct cs_policy in_order = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "in-order", .summary = "phases, the oldest first", .decide = decide_in_order,
    .flags = CS_PER_PHASE | CS_ASKS_ESTIMATES,
};

/* The first that fits, and so on. */
static void decide_what_fits(void *self, struct cs_host *host)
{
    uint32_t i = 0;

    (void)self;
    while (i < cs_pending_count(host))
        i = cs_start(host, cs_pending(host, i)) == CS_DONE ? 0 : i + 1;
}

static const struct cs_policy what_fits = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "what-fits", .summary = "the oldest that fits", .decide = decide_what_fits,
    .flags = CS_ASKS_ESTIMATES,
};

/* An agent that takes the first that fits has each metric of a policy that does so too,
 * which it returns. */
static struct trial_result assert_copied(const char *text, const char *list,
                                         const struct cs_policy *table, uint32_t seed)
{
    struct clustersim_env_options options = options_of(text);
    struct trial_result theirs = built_in(text, list, table, seed), ours;

    options.split = CLUSTERSIM_ENV_TEST;
    options.phases = text == phased;
    ours = played(&options, seed, first_that_fits);
    assert_alike(&theirs, &ours, true);
    return theirs;
}

static void every_metric_is_the_same_if_the_tables_say_alike(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 2; seed++)
        assert_copied(small, "[what-fits]", &what_fits, seed);
}

static void the_same_holds_where_nodes_fail(void **state)
{
    char text[1400];
    const char *rest = strstr(small, "workload:");
    uint32_t interrupted = 0;

    (void)state;
    snprintf(text, sizeof text, "experiment: small\nseeds: 4\ncluster:\n"
             "  nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]\n"
             "  failures: {node_mtbf: 40min, job_mtbf: 2h, repair: 10min, restart: 1min}\n%s",
             rest);
    for (uint32_t seed = 0; seed < 4; seed++) {
        struct trial_result theirs = assert_copied(text, "[what-fits]", &what_fits, seed);

        interrupted += theirs.value[METRIC_INTERRUPTIONS] > 0;
    }
    assert_true(interrupted > 0);
}

/* Nodes are rented and given back as decisions end. */
static void the_same_holds_where_nodes_are_rented(void **state)
{
    char text[1400];

    (void)state;
    snprintf(text, sizeof text, "experiment: small\nseeds: 4\ncluster:\n"
             "  nodes: [{name: a, count: 4, gpus: {type: generic, count: 8}, price: 8USD/h,\n"
             "           rent: {start: 2min, keep: 3min}}]\n%s", strstr(small, "workload:"));
    for (uint32_t seed = 0; seed < 2; seed++) {
        struct trial_result theirs = assert_copied(text, "[what-fits]", &what_fits, seed);

        assert_true(theirs.value[METRIC_NODES_RENTED] < 4);
    }
}

static void the_same_holds_phase_by_phase(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 2; seed++)
        assert_copied(phased, "[in-order]", &in_order, seed);
}

/* ---- agents that stop and resize what runs ---- */

#define HELD 2                  /* of the numbers of a running row */
#define LONG_NS (6 * 60 * INT64_C(1000000000))

/* The last number is that of the last running row. */
static const float *running_row(const struct clustersim_env_shape *shape,
                                const float *observation, uint32_t row)
{
    return observation + shape->floats - (shape->running_rows - row) * shape->running_features;
}

/* Starts the first that fits; else stops the first that has run for six minutes; else gives
 * one of these another size, the largest that it can have. */
static int64_t starts_stops_or_grows(const struct clustersim_env_shape *shape,
                                     const float *observation, const uint8_t *mask,
                                     struct rng *rng)
{
    int64_t action = first_that_fits(shape, observation, mask, rng);
    const uint8_t *may = mask + (size_t)shape->rows * shape->choices;
    const float six_minutes = 0.1f / 1.1f;

    if (action < (int64_t)shape->rows * shape->choices)
        return action;
    for (uint32_t r = 0; r < shape->running_rows; r++)
        if (may[r * shape->ends] && running_row(shape, observation, r)[HELD] > six_minutes)
            return may + r * shape->ends - mask;
    for (uint32_t r = 0; r < shape->running_rows; r++)
        for (uint32_t end = shape->ends - 1; end > 0; end--)
            if (may[r * shape->ends + end] &&
                running_row(shape, observation, r)[HELD] > six_minutes)
                return may + r * shape->ends + end - mask;
    return shape->actions - 1;
}

static const uint32_t own_sizes[] = { 1, 2, 4, 8 };

static bool stop_or_grow(struct cs_host *host)
{
    int64_t now_ns = cs_now_ns(host);

    for (uint32_t i = 0; i < cs_running_count(host) && cs_pending_count(host) > 0; i++) {
        struct lease_id lease = cs_role_lease(host, cs_running(host, i), 0);
        if (now_ns - cs_lease(host, lease)->since_ns > LONG_NS)
            return cs_stop(host, cs_running(host, i)) == CS_DONE;
    }
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct lease_id lease = cs_role_lease(host, cs_running(host, i), 0);
        bool elastic = cs_size_least(host, cs_running(host, i)) == 1;
        for (int k = 3; k >= 0 && now_ns - cs_lease(host, lease)->since_ns > LONG_NS; k--)
            if (own_sizes[k] != cs_lease(host, lease)->gpus && elastic &&
                cs_resize(host, lease, own_sizes[k]) == CS_DONE)
                return true;
    }
    return false;
}

static void decide_stops(void *self, struct cs_host *host)
{
    do
        decide_what_fits(self, host);
    while (stop_or_grow(host));
}

static const struct cs_policy stops = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "stops", .summary = "starts, stops and resizes", .decide = decide_stops,
    .flags = CS_ASKS_ESTIMATES | CS_PREEMPTS | CS_RESIZES,
};

static const char elastic[] =
    "experiment: elastic\n"
    "seeds: 4\n"
    "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}\n"
    "workload:\n"
    "  arrival: {process: poisson, rate: 10/h}\n"
    "  jobs: 60\n"
    "  mix:\n"
    "    - {recipe: trace, name: wide, share: 2, gpus: 4,\n"
    "       duration: {lognormal: {mean: 10min, cv: 1}, min: 1s, max: 1h},\n"
    "       elastic: {min: 1, max: 8, scaling: {table: {1: 1, 8: 5}}}}\n"
    "    - {recipe: trace, name: node, share: 1, gpus: 8, duration: 14min}\n"
    "policies: [fcfs]\n";

static void an_agent_that_stops_and_resizes_gives_what_a_policy_gives(void **state)
{
    static const char *const rules[] = { "preemption: {cost: 20s}", "placement: random" };
    char list[80], keys[80];
    double stopped = 0, resized = 0;
    struct clustersim_env_options options = options_of(elastic);

    (void)state;
    options.split = CLUSTERSIM_ENV_TEST;
    options.running = 16;
    options.sizes = own_sizes;
    options.size_count = 4;
    for (uint32_t seed = 0; seed < 8; seed++) {
        snprintf(list, sizeof list, "[{policy: stops, %s}]", rules[seed % 2]);
        snprintf(keys, sizeof keys, "{%s}", rules[seed % 2]);
        struct trial_result theirs = built_in(elastic, list, &stops, seed / 2);
        options.rules = keys;
        struct trial_result ours = played(&options, seed / 2, starts_stops_or_grows);

        assert_alike(&theirs, &ours, true);
        stopped += theirs.value[METRIC_PREEMPTIONS];
        resized += theirs.value[METRIC_RESIZES];
    }
    assert_true(stopped > 100 && resized > 30);
}

/* Whatever is chosen, each job is touched once at an instant, so an episode ends. */
static void an_agent_cannot_keep_an_instant_from_passing(void **state)
{
    const char *const text[] = { elastic, phased };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct clustersim_env_options options = options_of(text[i]);
        options.running = 16;
        options.phases = i == 1;
        options.steps_max = 100000;
        struct field field = open_field(&options);
        const struct clustersim_env_shape *shape = field.shape;
        const size_t first = (size_t)shape->rows * shape->choices;
        const float *now = field.out.observation + shape->rows * shape->row_features +
                           shape->places * shape->place_features;
        uint32_t stopped = 0, at_once = 0;

        reset(&field, 0, 3);
        while (!field.out.terminated[0] && !field.out.truncated[0]) {
            const uint8_t *mask = field.out.mask;
            int64_t action = shape->actions - 1;
            for (size_t a = 0; a < first && stopped < 40 && action >= (int64_t)first; a++)
                if (mask[a])
                    action = (int64_t)a;
            for (size_t a = first; a + 1 < shape->actions && stopped < 40; a++)
                if (mask[a])            /* rather than start */
                    action = (int64_t)a;
            if (stopped >= 40)
                action = first_that_fits(shape, field.out.observation, mask, NULL);
            bool ends = action >= (int64_t)first && action < (int64_t)shape->actions - 1;
            stopped += ends;
            float before = *now;
            step(&field, &action);
            at_once = *now == before ? at_once + ends : 0;
            assert_true(at_once <= shape->running_rows);
            assert_int_equal(field.out.verdict[0], CS_DONE);
        }
        assert_false(field.out.truncated[0]);
        assert_int_equal(stopped, 40);
        close_field(&field);
    }
}

/* ---- masks ---- */

/* Takes any action; it is carried out if the mask says so, and else nothing changes. */
static void take_any(struct field *field, uint64_t seed, uint32_t rows, uint32_t counts[2])
{
    const struct clustersim_env_shape *shape = field->shape;
    size_t bytes = shape->floats * sizeof(float);
    float *before = malloc(bytes);
    struct rng rng;

    rng_init(&rng, seed, "any", 0);
    reset(field, 0, seed);
    while (!field->out.terminated[0]) {
        bool last = rng_below(&rng, 4) == 0;
        bool runs = shape->running_rows > 0 && rng_below(&rng, 16) == 0;
        int64_t action = last ? shape->actions - 1
                              : (int64_t)rng_below(&rng, (uint64_t)rows * shape->choices);
        if (runs)
            action = (int64_t)shape->rows * shape->choices +
                     (int64_t)rng_below(&rng, (uint64_t)shape->running_rows * shape->ends);
        bool allowed = field->out.mask[action];

        memcpy(before, field->out.observation, bytes);
        step(field, &action);
        counts[allowed]++;
        assert_int_equal(field->out.verdict[0] == CS_DONE, allowed);
        if (!allowed) {
            assert_memory_equal(before, field->out.observation, bytes);
            assert_true(field->out.reward[0] == 0);
            assert_false(field->out.terminated[0]);
        }
    }
    free(before);
}

static void a_mask_allows_what_is_carried_out_and_nothing_else(void **state)
{
    static const char *const text[] = { small, phased, phased, elastic, phased };
    uint32_t counts[2] = { 0, 0 };

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct clustersim_env_options options = options_of(text[i]);

        options.phases = i == 1 || i == 4;
        options.running = i < 3 ? 0 : 8;
        options.sizes = own_sizes;
        options.size_count = i < 3 ? 0 : 4;
        struct field field = open_field(&options);
        assert_int_equal(field.shape->places, text[i] == phased ? 4 : 1);
        for (uint64_t seed = 0; seed < 5; seed++)
            take_any(&field, seed, 20, counts);
        close_field(&field);
    }
    assert_true(counts[0] > 100 && counts[1] > 300);
}

/* Jobs take all three GPUs, so that replicas wait, and go again without a start when
 * the requests of the peak are over: each row that is left must be a task that waits. */
static void replicas_that_wait_may_go_again(void **state)
{
    struct clustersim_env_options options = options_of(served);
    struct rng rng = { 0 };
    uint32_t steps = 0;

    (void)state;
    options.rows = 64;
    struct field field = open_field(&options);

    reset(&field, 0, 1);
    while (!field.out.terminated[0]) {
        const uint8_t *mask = field.out.mask;
        int64_t action = field.shape->actions - 1;

        if (!mask[action] || steps % 4 == 0)
            action = first_that_fits(field.shape, field.out.observation, mask, &rng);
        step(&field, &action);
        steps++;
    }
    assert_true(steps > 20);
    close_field(&field);
}

static void numbers_lie_between_0_and_1(void **state)
{
    struct clustersim_env_options options = options_of(phased);

    (void)state;
    options.phases = true;
    struct field field = open_field(&options);
    struct rng rng;
    rng_init(&rng, 1, "agent", 0);
    reset(&field, 0, 1);
    while (!field.out.terminated[0]) {
        int64_t action = any_allowed(field.shape, field.out.observation, field.out.mask, &rng);
        const float *place = field.out.observation + field.shape->rows *
                                                         field.shape->row_features;
        for (uint32_t i = 0; i < field.shape->floats; i++)
            assert_true(field.out.observation[i] >= 0 && field.out.observation[i] <= 1);
        for (uint32_t p = 0; p < field.shape->places; p++, place += 4)
            assert_true(fabsf(place[1] + place[2] + place[3] - 1) < 1e-6f);
        step(&field, &action);
    }
    close_field(&field);
}

/* ---- rewards ---- */

/* Three jobs of half a GPU and one tenant, on two GPUs: when the first has started, the
 * tenant of the others holds 0.5 of 2 GPUs, and then 1 of 2. */
static void a_tenant_holds_parts_of_gpus(void **state)
{
    struct clustersim_env_options options = options_of(
        "experiment: parts\nseeds: 1\n"
        "cluster: {nodes: [{name: a, count: 1, gpus: {type: generic, count: 2}}]}\n"
        "workload: {arrival: {process: all_at_once}, jobs: 3, mix: [{recipe: trace,\n"
        "           gpus: 0.5, tenant: x, duration: 1h}]}\npolicies: [fcfs]\n");
    uint32_t at = 0;
    int64_t first = 0;

    (void)state;
    struct field field = open_field(&options);
    while (strcmp(clustersim_env_name(field.env, "task", at, NULL), "tenant") != 0)
        at++;
    reset(&field, 0, 1);
    assert_true(field.out.observation[at] == 0);
    step(&field, &first);
    assert_true(field.out.observation[at] == 0.25f);
    step(&field, &first);
    assert_true(field.out.observation[at] == 0.5f);
    close_field(&field);
}

static void rewards_sum_to_the_metric_that_they_name(void **state)
{
    static const struct {
        const char *reward, *metric;
    } row[] = {
#define REWARD(ID, NAME, METRIC, HELP) { NAME, METRIC },
#include "experiments/env/rewards.def"
#undef REWARD
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            struct clustersim_env_options options = options_of(seed < 2 ? small : phased);
            double metric, jobs = 1;

            options.reward = row[i].reward;
            options.phases = seed == 3;
            struct field field = open_field(&options);
            double sum = play(&field, seed, any_allowed);
            assert_true(clustersim_env_metric(field.env, 0, row[i].metric, &metric));
            if (strstr(row[i].metric, "_mean_") != NULL)
                assert_true(clustersim_env_metric(field.env, 0, "jobs_done", &jobs));
            assert_true(metric > 0);
            if (fabs(sum + metric * jobs) > 1e-9 * metric * jobs)
                fail_msg("%s: %.17g, not %.17g", row[i].reward, -sum, metric * jobs);
            assert_true(fabs(sum - clustersim_env_score(field.env, 0)) <= 1e-9 * metric * jobs);
            close_field(&field);
        }
}

/* ---- seeds ---- */

static void the_same_seed_is_the_same_episode(void **state)
{
    struct clustersim_env_options options = options_of(small);
    struct field field = open_field(&options);
    double first, other;

    (void)state;
    first = play(&field, 7, any_allowed);
    other = play(&field, 8, any_allowed);
    assert_true(first != other);
    assert_true(play(&field, 7, any_allowed) == first);
    reset(&field, 0, 8);        /* one that is left in its midst leaves nothing behind */
    assert_true(play(&field, 7, any_allowed) == first);
    close_field(&field);
}

static void splits_have_no_episode_in_common(void **state)
{
    uint32_t first[3], count[3];
    double sum[3];

    (void)state;
    for (int s = 0; s < 3; s++) {
        struct clustersim_env_options options = options_of(small);

        clustersim_env_replicas((enum clustersim_env_split)s, &first[s], &count[s]);
        for (int t = 0; t < s; t++)
            assert_true((uint64_t)first[s] + count[s] <= first[t] ||
                        (uint64_t)first[t] + count[t] <= first[s]);
        options.split = (enum clustersim_env_split)s;
        struct field field = open_field(&options);
        sum[s] = play(&field, 3, first_or_wait);
        close_field(&field);
    }
    assert_true(sum[0] != sum[1] && sum[1] != sum[2] && sum[0] != sum[2]);
}

static void seeds_go_through_the_points(void **state)
{
    char text[1400];

    (void)state;
    snprintf(text, sizeof text, "%ssweep: {workload.jobs: [5, 9]}\n", small);
    struct clustersim_env_options options = options_of(text);
    struct field field = open_field(&options);
    assert_int_equal(field.shape->points, 2);
    for (uint64_t seed = 0; seed < 4; seed++) {
        double jobs;

        play(&field, seed, first_or_wait);
        assert_true(clustersim_env_metric(field.env, 0, "jobs_done", &jobs));
        assert_true(jobs == (seed % 2 == 0 ? 5 : 9));
    }
    close_field(&field);
}

/* ---- many ---- */

enum { MANY = 5, LONG = 700 };

static void many_in_one_call_are_as_each_alone(void **state)
{
    struct clustersim_env_options options = options_of(small);
    double sum[MANY] = { 0 };
    uint32_t ended[MANY] = { 0 };

    (void)state;
    options.count = MANY;
    options.go_on = true;
    struct field many = open_field(&options);
    options.count = 1;
    options.go_on = false;
    struct field one = open_field(&options);
    for (uint32_t i = 0; i < MANY; i++)
        reset(&many, i, i);
    for (uint32_t t = 0; t < LONG; t++) {
        int64_t action[MANY];

        for (uint32_t i = 0; i < MANY; i++)
            action[i] = shortest_or_wait(many.shape,
                                         many.out.observation + i * many.shape->floats,
                                         many.out.mask + i * many.shape->actions, NULL);
        step(&many, action);
        for (uint32_t i = 0; i < MANY; i++) {
            sum[i] += many.out.reward[i];
            if (!many.out.terminated[i])
                continue;
            assert_int_equal(clustersim_env_seed(many.env, i), i + MANY * ended[i]);
            assert_true(play(&one, i + MANY * ended[i]++, shortest_or_wait) == sum[i]);
            sum[i] = 0;
        }
    }
    assert_true(ended[0] >= 3 && ended[MANY - 1] >= 3);
    close_field(&many);
    close_field(&one);
}

static void an_episode_is_cut_after_its_most_steps(void **state)
{
    struct clustersim_env_options options = options_of(small);

    (void)state;
    options.steps_max = 10;
    struct field field = open_field(&options);
    play(&field, 0, any_allowed);
    assert_int_equal(clustersim_env_steps(field.env, 0), 10);
    assert_true(field.out.truncated[0]);
    assert_false(field.out.terminated[0]);
    close_field(&field);
}

/* ---- what is wrong ---- */

static void assert_refused(const struct clustersim_env_options *options, int status,
                           const char *words)
{
    struct clustersim_env *env = clustersim_env_open("within.yaml", options);
    const struct clustersim_env_error *error = clustersim_env_error(env);

    assert_non_null(error);
    assert_int_equal(error->status, status);
    if (strstr(error->text, words) == NULL)
        fail_msg("%s", error->text);
    assert_false(clustersim_env_reset(env, 0, 0, NULL));
    assert_ptr_equal(clustersim_env_error(env), error);
    assert_true(clustersim_env_score(env, 0) == 0.0);
    assert_int_equal(clustersim_env_seed(env, 0), 0);
    assert_int_equal(clustersim_env_steps(env, 0), 0);
    clustersim_env_close(env);
}

/* The only job comes an hour after the end of the run: the first step, which may wait
 * alone, is the last.  With go_on the next one begins the next episode. */
static void an_episode_without_a_choice_ends_with_its_first_step(void **state)
{
    struct clustersim_env_options options = options_of(
        "experiment: none\nseeds: 1\nuntil: 1h\n"
        "cluster: {nodes: [{name: a, count: 1, gpus: {type: generic, count: 8}}]}\n"
        "workload: {arrival: {process: fixed, times: [2h]}, mix: [{recipe: trace, gpus: 1,\n"
        "           duration: 1h}]}\npolicies: [fcfs]\n");

    (void)state;
    for (int go_on = 0; go_on < 2; go_on++) {
        options.go_on = go_on;
        struct field field = open_field(&options);
        int64_t wait = field.shape->actions - 1;

        reset(&field, 0, 1);
        assert_false(field.out.terminated[0]);
        for (int64_t a = 0; a < wait; a++)
            assert_false(field.out.mask[a]);
        assert_true(field.out.mask[wait]);
        step(&field, &wait);
        assert_true(field.out.terminated[0] && field.out.verdict[0] == CS_DONE);
        assert_true(field.out.reward[0] == clustersim_env_score(field.env, 0));
        assert_true(clustersim_env_step(field.env, &wait, &field.out) == go_on);
        assert_true(!go_on || !field.out.terminated[0]);
        assert_true(!go_on || clustersim_env_seed(field.env, 0) == 2);
        close_field(&field);
    }
}

static void options_that_are_wrong_are_told(void **state)
{
    struct clustersim_env_options options = options_of(small);
    char text[2400];

    (void)state;
    options.reward = "profit";
    assert_refused(&options, 2, "reward must be jct, wait or makespan, found 'profit'");
    options = options_of(small);
    options.rows = 5000;
    assert_refused(&options, 2, "rows must be from 1 to 4096, found 5000");
    options = options_of(small);
    options.rules = "placement: count";
    assert_refused(&options, 2, "rules must be a map as {placement: count}");
    options.rules = "{placements: count}";
    assert_refused(&options, 3, "placement");
    options = options_of("experiment: x\nclustr: {}\n");
    assert_refused(&options, 3, "within.yaml:1:1: schema error: key 'workload' is missing");
    snprintf(text, sizeof text, "%ssweep: {cluster.nodes.gen.gpus.type: [l40s, a10]}\n", phased);
    options = options_of(text);
    assert_refused(&options, 3, "has other places than");
}

static void assert_no_step(struct field *field, int64_t action, const char *words)
{
    assert_false(clustersim_env_step(field->env, &action, &field->out));
    assert_non_null(clustersim_env_error(field->env));
    assert_string_equal(clustersim_env_error(field->env)->message, words);
}

static void steps_that_are_wrong_are_told(void **state)
{
    struct clustersim_env_options options = options_of(small);
    struct field field = open_field(&options);

    (void)state;
    assert_no_step(&field, 0, "trial 0 must be reset before its first step");
    assert_false(clustersim_env_reset(field.env, 1, 0, &field.out));
    assert_string_equal(clustersim_env_error(field.env)->message,
                        "trial must be from 0 to 0, found 1");
    reset(&field, 0, 0);
    assert_null(clustersim_env_error(field.env));
    assert_no_step(&field, -1, "the action of trial 0 must be from 0 to 128, found -1");
    assert_no_step(&field, 129, "the action of trial 0 must be from 0 to 128, found 129");
    play(&field, 0, first_or_wait);
    assert_no_step(&field, 0, "the episode of trial 0 is over: it must be reset");
    close_field(&field);
}

static void a_trial_that_fails_is_an_error(void **state)
{
    struct clustersim_env_options options = options_of(small);
    int64_t wait = 128;

    (void)state;
    options.set = (const char *const[]){ "event_count_max=40" };
    options.set_count = 1;
    struct field field = open_field(&options);
    reset(&field, 0, 0);
    while (clustersim_env_step(field.env, &wait, &field.out))
        wait = first_or_wait(field.shape, field.out.observation, field.out.mask, NULL);
    assert_int_equal(clustersim_env_error(field.env)->status, 5);
    assert_string_equal(clustersim_env_error(field.env)->message,
                        "event limit reached: 40 (key event_count_max)");
    assert_no_step(&field, 0, "the episode of trial 0 is over: it must be reset");
    close_field(&field);
}

static void names_say_what_the_numbers_are(void **state)
{
    struct clustersim_env_options options = options_of(phased);
    struct clustersim_env *env = clustersim_env_open("within.yaml", &options);
    const struct clustersim_env_shape *shape = clustersim_env_shape(env);
    const char *help;

    (void)state;
    assert_string_equal(clustersim_env_name(env, "task", 3, &help), "estimate");
    assert_non_null(strstr(help, "time"));
    assert_non_null(clustersim_env_name(env, "task", shape->row_features - 1, NULL));
    assert_null(clustersim_env_name(env, "task", shape->row_features, NULL));
    assert_null(clustersim_env_name(env, "place", shape->place_features, NULL));
    assert_null(clustersim_env_name(env, "clock", shape->clock_features, NULL));
    assert_string_equal(clustersim_env_name(env, "places", 0, NULL), "as asked");
    assert_string_equal(clustersim_env_name(env, "places", 3, NULL), "train/a100-80");
    assert_null(clustersim_env_name(env, "places", 4, NULL));
    assert_int_equal(shape->actions, 128 * 4 + 1);
    assert_int_equal(shape->floats, 128 * 9 + 4 * 4 + 5);
    clustersim_env_close(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_agent_gives_what_the_policy_that_it_copies_gives),
        cmocka_unit_test(every_metric_is_the_same_if_the_tables_say_alike),
        cmocka_unit_test(the_same_holds_where_nodes_fail),
        cmocka_unit_test(the_same_holds_where_nodes_are_rented),
        cmocka_unit_test(the_same_holds_phase_by_phase),
        cmocka_unit_test(an_agent_that_stops_and_resizes_gives_what_a_policy_gives),
        cmocka_unit_test(an_agent_cannot_keep_an_instant_from_passing),
        cmocka_unit_test(a_mask_allows_what_is_carried_out_and_nothing_else),
        cmocka_unit_test(replicas_that_wait_may_go_again),
        cmocka_unit_test(numbers_lie_between_0_and_1),
        cmocka_unit_test(a_tenant_holds_parts_of_gpus),
        cmocka_unit_test(rewards_sum_to_the_metric_that_they_name),
        cmocka_unit_test(the_same_seed_is_the_same_episode),
        cmocka_unit_test(splits_have_no_episode_in_common),
        cmocka_unit_test(seeds_go_through_the_points),
        cmocka_unit_test(many_in_one_call_are_as_each_alone),
        cmocka_unit_test(an_episode_is_cut_after_its_most_steps),
        cmocka_unit_test(an_episode_without_a_choice_ends_with_its_first_step),
        cmocka_unit_test(options_that_are_wrong_are_told),
        cmocka_unit_test(steps_that_are_wrong_are_told),
        cmocka_unit_test(a_trial_that_fails_is_an_error),
        cmocka_unit_test(names_say_what_the_numbers_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
