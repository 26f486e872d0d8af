/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys_test.c - which semantics act on which policy, by experiment: what a
 * policy declares to heed changes the jobs of a small world, what it does not
 * declare changes nothing in any of them; and the same of its parameters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/cluster/place.h"
#include "policies/params.h"
#include "policies/registry/registry.h"
#include "policies/registry/rules.h"
#include "sim/config/conf.h"
#include "tests/aid/world.h"

#define HEAD "experiment: t\nseed: 7\nseeds: 1\nuntil: drained\n"

/* Nodes of two shapes; whole jobs with tenants, limits and deadlines, parts of
 * GPUs, gangs of more than a node. */
#define TRACE_NODES                                                          \
    "cluster:\n  nodes:\n"                                                   \
    "    - {name: a, count: 3, gpus: {type: generic, count: 4}, cpu: {type: "\
    "epyc-7763, sockets: 1}, memory: 512GB, price: 2USD/h}\n"                \
    "    - {name: b, count: 2, gpus: {type: generic, count: 8}, cpu: {type: "\
    "epyc-7763, sockets: 2}, memory: 1TB, price: 5USD/h}\n"
#define TRACE_JOBS(MORE)                                                     \
    "    - {recipe: trace, name: x, share: 2, tenant: x, duration: "         \
    "{lognormal: {mean: 30min, cv: 2}, max: 5h}, gpus: {choice: {1: 3, 2: "  \
    "2, 4: 2, 8: 1}}, limit: {uniform: [1, 5]}, deadline: {uniform: [30min, "\
    "5h]}" MORE "}\n"                                                        \
    "    - {recipe: trace, name: y, share: 1, tenant: y, duration: "         \
    "{lognormal: {mean: 60min, cv: 1}, max: 5h}, gpus: {choice: {2: 2, 3: "  \
    "1, 12: 1}}, limit: {uniform: [1, 5]}, deadline: {uniform: [30min, 5h]}" \
    MORE "}\n"
#define TRACE_WORK                                                           \
    "workload:\n  arrival: {process: poisson, rate: 20/h}\n  jobs: 60\n"     \
    "  mix:\n"

static const char *const world_text[] = {
    HEAD TRACE_NODES TRACE_WORK TRACE_JOBS("")
        "    - {recipe: trace, name: z, share: 1, tenant: z, duration: {exponential:"
        " {mean: 30min}}, gpus: 0.25}\n",
    HEAD TRACE_NODES TRACE_WORK
        TRACE_JOBS(", elastic: {min: 1, max: 12, scaling: {amdahl: 5%}}"),
    /* Phases, on pools of the names that policies look for. */
    HEAD "cluster:\n  nodes:\n"
    "    - {name: rollout, count: 2, gpus: {type: l40s, count: 4}, cpu: {type: "
    "epyc-7763, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: 4}, "
    "price: 8USD/h}\n"
    "    - {name: train, count: 3, gpus: {type: a100-80, count: 8}, cpu: {type: "
    "epyc-7763, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: 4}, "
    "price: 16USD/h}\n"
    "    - {name: spot, count: 2, gpus: {type: l40s, count: 4}, cpu: {type: "
    "epyc-7763, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: 4}, "
    "price: 4USD/h}\n"
    "    - {name: cpu, count: 2, cpu: {type: epyc-7763, sockets: 2}, memory: "
    "512GB, price: 1USD/h}\n"
    "  storage: {bandwidth: 20GB/s}\n"
    "workload:\n  arrival: {process: poisson, rate: 600/h}\n  jobs: 24\n  mix:\n"
    "    - {recipe: grpo, name: g, share: 1, model: qwen2.5-7b, method: lora, "
    "recompute: full, zero: 2, micro_batch: 2, prompts: 64, responses: 8, "
    "prompt_tokens: 256, response: {mean: 400, cv: 1, max: 2048}, reward: {on: "
    "cpu, core_time: 100ms}, steps: {uniform: [3, 9]}, checkpoint_every: 4, "
    "rollout: {gpus: 4, min: 2, max: 8, types: [l40s, a100-80]}, train: {gpus: 6, "
    "min: 6, max: 8, types: [a100-80]}, data: {cores: 16, pool: cpu}}\n"
    "    - {recipe: lora, name: l, share: 1, model: llama-3.1-8b, recompute: "
    "full, batch: 64, sequence: 2048, micro_batch: 2, steps: {lognormal: {mean: "
    "60, cv: 0.8}, min: 20, max: 200}, train: {gpus: 4, min: 2, max: 8, types: "
    "[a100-80, l40s]}}\n",
    /* Jobs of which it is known how fast two are on the same GPUs. */
    HEAD TRACE_NODES TRACE_WORK
        TRACE_JOBS(", packing: {x: 0.7, y: 0.9}"),
    /* Readers of pictures and of text, which want cores unlike. */
    HEAD "cluster:\n  nodes:\n    - {name: n, count: 2, gpus: {type: a100-80, "
    "count: 8}, cpu: {type: xeon-silver-4310, sockets: 2}, memory: 1TB}\n"
    "  storage: {bandwidth: 100GB/s}\nworkload:\n  arrival: {process: poisson, "
    "rate: 200/h}\n  jobs: 24\n  mix:\n"
    "    - {recipe: net, name: p, model: resnet-50, micro_batch: 256, batch: "
    "1024, steps: 600, checkpoint_every: 0, train: {gpus: 4, cores: 3}, loader: "
    "{kind: image, size: 200000}}\n"
    "    - {recipe: sft, name: t, model: qwen2.5-0.5b, batch: 64, sequence: 512, "
    "steps: 600, checkpoint_every: 0, train: {gpus: 2, cores: 3}}\n",
    /* A service with idle hours beside rollouts. */
    HEAD "cluster:\n  nodes:\n"
    "    - {name: serve, count: 3, gpus: {type: a100-80, count: 4}, cpu: {type: "
    "epyc-7763, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: 4}, "
    "price: 8USD/h}\n"
    "    - {name: rollout, count: 2, gpus: {type: a100-80, count: 4}, cpu: {type: "
    "epyc-7763, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: 4}, "
    "price: 8USD/h}\n"
    "    - {name: train, count: 2, gpus: {type: a100-80, count: 8}, cpu: {type: "
    "epyc-7763, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: 4}, "
    "price: 16USD/h}\n  storage: {bandwidth: 20GB/s}\n"
    "workload:\n  arrival: {process: poisson, rate: 2/h}\n  jobs: 8\n"
    "  services:\n    - {name: chat, model: qwen2.5-0.5b, gpu: {tp: 1}, "
    "replicas: {min: 1, max: 8}, slo: {ttft: 1s}, requests: {arrival: {process: "
    "poisson, rate: 20/s}, for: 10min, prompt: 200, output: {lognormal: {mean: "
    "100, cv: 1}, max: 500}}, scaling: {signal: concurrency, target: 8, "
    "interval: 15s, down: 60s}}\n"
    "  mix:\n    - {recipe: grpo, name: g, share: 1, model: qwen2.5-7b, method: "
    "lora, recompute: full, zero: 2, micro_batch: 2, prompts: 64, responses: 8, "
    "prompt_tokens: 256, response: {mean: 400, cv: 1, max: 2048}, reward: {on: "
    "cpu, core_time: 100ms}, steps: {uniform: [3, 9]}, checkpoint_every: 4, "
    "rollout: {gpus: 4, min: 2, max: 8}, train: {gpus: 4, min: 4, max: 8}, data: "
    "{cores: 16}}\n",
    /* Passes that GPUs or cores make. */
    HEAD "cluster:\n  nodes:\n    - {name: g, count: 2, gpus: {type: t4, count: "
    "2}, cpu: {type: xeon-platinum-8380, sockets: 1}, memory: 256GB, price: "
    "2USD/h}\n    - {name: b, count: 2, cpu: {type: xeon-platinum-8480+, "
    "sockets: 2}, memory: 512GB, price: 5USD/h}\n"
    "workload:\n  arrival: {process: poisson, rate: 200/h}\n  jobs: 24\n  mix:\n"
    "    - {recipe: batch-infer, name: e, model: bert-base, precision: fp16, "
    "prompts: 20000, prompt_tokens: 128, steps: 3, infer: {gpus: 1, types: [t4, "
    "cpu], cpu: {cores: 28}}}\n",
};
#define WORLDS (sizeof world_text / sizeof world_text[0])

static uint64_t digest(const struct table *table)
{
    size_t bytes;
    const char *at = table_bytes(table, &bytes);
    uint64_t sum = 1469598103934665603u;

    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ (unsigned char)at[i]) * 1099511628211u;
    return sum;
}

/* Of all that its jobs met and of all decisions; 0: the trial failed. */
static uint64_t jobs_of(struct world *world, const struct host_policy *policy)
{
    struct trial_spec spec = experiment_trial_spec(world->experiment, 0);
    struct trial_tables tables = { 0 };
    struct trial_result result;

    spec.policy = policy;
    spec.vain_max = 20000;
    tables.jobs = table_new(csv_jobs.columns, csv_jobs.count);
    tables.decisions = table_new(csv_decisions.columns, csv_decisions.count);
    memset(&world->err, 0, sizeof world->err);
    bool ok = trial_run(&spec, &tables, &result, &world->err);
    uint64_t sum = ok ? digest(tables.jobs) ^ digest(tables.decisions) : 0;
    table_free(tables.jobs);
    table_free(tables.decisions);
    return sum;
}

/* ---- worlds with a policy --------------------------------------------------- */

/* Parameters without which a policy does not run, or does not do what a key is
 * about; each row is run. */
static const struct {
    const char *policy, *keys;
} settings[] = {
    { "quota", "quotas: \"x=8 y=8 z=12\"" },
    { "pollux", "population: 8, generations: 5" },
    { "starburst", "cloud: b" },
    { "harvest", "from: serve" },
    { "harvest", "from: train" },
    { "lucid", "profiler: b, packs: always" },
    { "lucid", "packs: always" },
    { "gavel", "objective: makespan" },
    { "gavel", "objective: max-min" },
    { "easy", "reservation: none" },
    { "easy", "reservation: head" },
};
#define SETTINGS (sizeof settings / sizeof settings[0])

static struct world world[WORLDS];

static int open_worlds(void **state)
{
    (void)state;
    memset(world, 0, sizeof world);
    for (size_t w = 0; w < WORLDS; w++) {
        char text[8000];

        snprintf(text, sizeof text, "%spolicies: [fcfs]\n", world_text[w]);
        if (!world_open(&world[w], text)) {
            print_message("%s\n", world_error(&world[w]));
            return 1;
        }
    }
    return 0;
}

static int close_worlds(void **state)
{
    (void)state;
    for (size_t w = 0; w < WORLDS; w++) {
        struct world one = world[w];

        world_close(&one);
    }
    return 0;
}

/* NULL: the entry is refused, and err says why. */
static const struct host_policy *read_entry(const char *policy,
                                            const char *keys,
                                            const char *more, struct err *err)
{
    char text[400];
    const struct conf_node *node;

    memset(err, 0, sizeof *err);
    snprintf(text, sizeof text, "{policy: %s%s%s%s%s}", policy,
             *keys ? ", " : "", keys, *more ? ", " : "", more);
    node = conf_parse(world[0].arena, "keys", text, strlen(text), err);
    if (node == NULL)
        fail_msg("%s", text);
    return host_policy_read(world[0].arena, node, err);
}

/* Do the two differ in any world? */
static bool differ(const struct host_policy *a, const struct host_policy *b)
{
    for (size_t w = 0; w < WORLDS; w++) {
        uint64_t of_a = jobs_of(&world[w], a);

        if (of_a != 0 && of_a != jobs_of(&world[w], b))
            return true;
    }
    return false;
}

/* ---- semantics -------------------------------------------------------------- */

enum set {
    SKIP, COMMIT, DROP, BACKFILL, PLACE, RELAX, TIES, REQUESTED, NOISY, NOISE,
    LATE_NOISE, COST, ROUND, RESOLVE, EARLY, TICK, GROWTH,
    CORES
};

static const struct variant {
    enum set base;              /* what it is beside; itself: nothing */
    enum set set;
    const char *keys, *base_keys;
} variants[] = {
    { SKIP, SKIP, "blocking: skip", "" },
    { COMMIT, COMMIT, "blocking: commit", "" },
    { DROP, DROP, "blocking: drop", "" },
    { COMMIT, BACKFILL, "backfill: true", "blocking: commit" },
    { PLACE, PLACE, "placement: spread", "" },
    { PLACE, RELAX, "relax_after: 5s", "placement: consolidate" },
    { PLACE, TIES, "ties: shuffled", "placement: worst_fit" },
    { REQUESTED, REQUESTED, "estimate: requested", "" },
    { NOISY, NOISY, "estimate: noisy", "" },
    { NOISY, NOISE, "noise: 2", "estimate: noisy" },
    { BACKFILL, LATE_NOISE, "estimate: noisy, noise: 1",
      "blocking: commit, backfill: true" },
    { COST, COST, "preemption: {cost: 100s}", "" },
    { ROUND, ROUND, "rounds: {length: 90s}", "" },
    { ROUND, RESOLVE, "rounds: {length: 90s, resolve_at_most_every: 32min}",
      "rounds: {length: 90s}" },
    { ROUND, EARLY, "rounds: {length: 90s, end_early: true}",
      "rounds: {length: 90s}" },
    { TICK, TICK, "tick: 1s", "" },
    { GROWTH, GROWTH, "grow: false", "" },
    { CORES, CORES, "hardware: cores", "" },
};
#define VARIANTS (sizeof variants / sizeof variants[0])

/* As if the host had read it, whatever the policy declares. */
static void set_rule(struct host_rules *rules, enum set set, bool as_base)
{
    switch (set) {
    case SKIP: rules->blocking = HOST_SKIP; break;
    case COMMIT: rules->blocking = HOST_COMMIT; break;
    case DROP: rules->blocking = HOST_DROP; break;
    case BACKFILL:
        rules->blocking = HOST_COMMIT;
        rules->backfill = true;
        break;
    case PLACE: rules->placement = PLACE_SPREAD; break;
    case RELAX:
        rules->placement = PLACE_CONSOLIDATE;
        rules->relax_ns = as_base ? 0 : 5 * CLOCK_NS_PER_S;
        break;
    case TIES:
        rules->placement = PLACE_WORST_FIT;
        rules->ties_shuffled = !as_base;
        break;
    case REQUESTED: rules->estimate = HOST_REQUESTED; break;
    case NOISY: case NOISE: case LATE_NOISE:
        rules->estimate = HOST_NOISY;
        rules->noise_cv = set == NOISY || as_base ? 0.5 : 2;
        break;
    case COST:
        rules->cost_count = 1;
        rules->cost[0] = (struct host_cost_step) {
            UINT32_MAX, 100 * CLOCK_NS_PER_S };
        break;
    case ROUND: rules->round_ns = 90 * CLOCK_NS_PER_S; break;
    case RESOLVE: rules->resolve_ns = 1920 * CLOCK_NS_PER_S; break;
    case EARLY: rules->round_ends_early = true; break;
    case GROWTH: rules->no_growth = true; break;
    case CORES: rules->hardware = HOST_CORES_ALONE; break;
    case TICK:
        rules->tick_ns = rules->round_ns = CLOCK_NS_PER_S;
        break;
    }
}

#define TAKES_IDLE "among idle leases scores are those of best_fit"

/* Accepted though the worlds show no effect, and why that is right. */
static const struct {
    const char *policy, *keys, *why;
} quiet[] = {
    { "fcfs", "blocking: commit", "by age, what was chosen is the first anyway" },
    { "random", "ties: shuffled", TAKES_IDLE },
    { "spot-rollout", "ties: shuffled", TAKES_IDLE },
    { "elastic-hybrid", "ties: shuffled", TAKES_IDLE },
    { "spot-rollout", "hardware: cores", "it names the GPUs that it starts" },
    { "learned", "grow: false", "without weights all options score alike" },
};
#define QUIET (sizeof quiet / sizeof quiet[0])

static bool is_quiet(const char *policy, const char *keys)
{
    for (size_t i = 0; i < QUIET; i++)
        if (strcmp(quiet[i].policy, policy) == 0 &&
            strcmp(quiet[i].keys, keys) == 0)
            return true;
    return false;
}

/* What the policy refuses, forced upon it. */
static bool forced_differs(const char *name, const char *keys,
                           const struct variant *variant)
{
    struct err err;
    const struct host_policy *plain = read_entry(name, keys, "", &err);

    if (plain == NULL)
        fail_msg("%s, %s: %s", name, keys, err.text);
    struct host_policy base = *plain, with;
    if (*variant->base_keys) {
        set_rule(&base.rules, variant->base, true);
        set_rule(&base.rules, variant->set == LATE_NOISE ? variant->base
                                                        : variant->set, true);
    }
    with = base;
    if (variant->set == EARLY || variant->set == RESOLVE) {
        base.rules.resolve_ns = 0;
        base.rules.round_ends_early = false;
    }
    set_rule(&with.rules, variant->set, false);
    if (variant->set == BACKFILL)
        base.rules.backfill = false;
    return differ(&base, &with);
}

/* Counts a cell of policy x variant, once for all settings of the policy. */
static unsigned judge(const char *name, const struct variant *variant)
{
    bool accepted = false, acts = false, found = false;
    unsigned wrong = 0;

    for (size_t s = 0; s <= SETTINGS; s++) {
        const char *keys = s < SETTINGS ? settings[s].keys : "", *more;
        char both[200];
        struct err err;
        bool own = s < SETTINGS && strcmp(settings[s].policy, name) == 0;

        if (s < SETTINGS ? !own : found)
            continue;
        found = true;
        snprintf(both, sizeof both, "%s%s%s",
                 strstr(variant->keys, "length") ? "" : variant->base_keys,
                 *variant->base_keys && !strstr(variant->keys, "length") ? ", "
                                                                     : "",
                 variant->keys);
        const struct host_policy *with = read_entry(name, keys, both, &err);
        if (with == NULL && forced_differs(name, keys, variant)) {
            print_message("%s {%s}: {%s} is refused, but acts: %s\n", name, keys,
                          both, err.text);
            wrong++;
        }
        if (with == NULL)
            continue;
        more = variant->base_keys;
        const struct host_policy *base = read_entry(name, keys, more, &err);
        if (base == NULL) {     /* the base acts with the key alone */
            struct host_policy copy = *with;
            accepted = true;
            copy.rules.noise_cv = 0.5;
            acts |= differ(&copy, with);
            continue;
        }
        accepted = true;
        acts |= differ(base, with);
    }
    if (accepted && !acts && !is_quiet(name, variant->keys)) {
        print_message("%s: {%s} is accepted, and changes nothing\n", name,
                      variant->keys);
        wrong++;
    }
    if (accepted && acts && is_quiet(name, variant->keys)) {
        print_message("%s: {%s} is said to be quiet, and acts\n", name,
                      variant->keys);
        wrong++;
    }
    return wrong;
}

static void a_key_is_accepted_where_it_acts_and_nowhere_else(void **state)
{
    const struct cs_policy *policy;
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++)
        for (size_t v = 0; v < VARIANTS; v++)
            if (variants[v].set != LATE_NOISE || policy->decide == NULL)
                wrong += judge(policy->name, &variants[v]);
    assert_int_equal(wrong, 0);
}

/* ---- parameters -------------------------------------------------------------- */

#define ADVISED "weights: policies/weights/advised.yaml"

/* Another value for every parameter, beside keys that it may need. */
static const struct {
    const char *policy, *value, *beside;
} parameter[] = {
    { "afs", "interval: 1h", "" },
    { "allox", "alpha: 20%", "" }, { "allox", "depth_max: 1", "" },
    { "co-execution", "slowdown: 8", "" }, { "co-execution", "memory: 1%", "" },
    { "co-execution", "jobs_max: 1", "slowdown: 8" },
    { "dlas", "limit_1: 60s", "" }, { "dlas", "limit_2: 4000s", "" },
    { "dlas", "demotion: tiresias", "" }, { "dlas", "service: time", "" },
    { "dlas", "promotion: 1", "limit_1: 60s" },
    { "dynamic", "lend: false", "" }, { "dynamic", "gain_min: 100", "" },
    { "dynamic", "lend_max: 0", "release_max: 0" },
    { "dynamic", "release_max: 0", "" },
    { "easy", "reservation: none", "" }, { "easy", "depth_max: 1", "" },
    { "elasticflow", "slot: 5s", "" }, { "elasticflow", "slots_max: 1", "" },
    { "elasticflow", "slack: 90%", "" },
    { "gavel", "objective: makespan", "" }, { "gavel", "packing: true", "" },
    { "gavel", "round: 60s", "" },
    { "gittins", "quantum: 60s", "" },
    { "harvest", "from: train", "" }, { "harvest", "role: train", "" },
    { "harvest", "reserve: 100%", "" },
    { "hybrid", "reserve: 100%", "" },
    { "hybrid", "lend_max: 0", "release_max: 0" },
    { "hybrid", "release_max: 0", "" },
    { "las", "quantum: 30s", "" },
    { "advised", "encoder: none", ADVISED }, { "advised", "depth: 1", ADVISED },
    { "learned", "depth_max: 1", "weights: {age: 1, gpus: 2, switch: -3}" },
    { "lucid", "packs: always", "score_max: 4" }, { "lucid", "score_max: 4", "packs: always" },
    { "lucid", "gpus_max: 1", "packs: always, score_max: 4" }, { "lucid", "profiler: b", "" },
    { "lucid", "profile: 10s", "profiler: b" },
    { "optimus", "interval: 60s", "" },
    { "pollux", "interval: 600s", "population: 8, generations: 5" },
    { "pollux", "p: -5", "population: 8, generations: 5" },
    { "pollux", "restart: 1000s", "population: 8, generations: 5" },
    { "pollux", "growth: 8", "population: 8, generations: 5" },
    { "pollux", "population: 16", "generations: 5" },
    { "pollux", "generations: 9", "population: 8" },
    { "pollux", "depth: 1", "population: 8, generations: 5" },
    { "quota", "quotas: \"x=4 y=20 z=4\"", "" },
    { "quota", "borrow: false", "quotas: \"x=12 y=12 z=4\"" },
    { "quota", "reclaim: false", "quotas: \"x=12 y=12 z=4\"" },
    { "shockwave", "round: 600s", "" }, { "shockwave", "window: 2", "" },
    { "shockwave", "k: 0", "" }, { "shockwave", "lambda: 1", "" },
    { "shockwave", "rho_max: 30", "" },
    { "sia", "interval: 600s", "" }, { "sia", "p: -5", "" },
    { "sia", "idle: 0", "" }, { "sia", "restart: 1000s", "" },
    { "sia", "growth: 8", "" }, { "sia", "depth: 1", "" },
    { "sia", "nodes_max: 1", "" },
    { "spot-rollout", "spot: rollout", "" }, { "spot-rollout", "role: train", "" },
    { "spot-rollout", "reserved: rollout", "" },
    { "starburst", "cloud: a", "cloud: b" }, { "starburst", "wait: none", "cloud: b" },
    { "starburst", "budget: 1min", "cloud: b, wait: constant" },
    { "starburst", "factor: 10", "cloud: b" },
    { "static", "share_max: 10%", "" },
    { "synergy", "loss: 50%", "" },
    { "themis", "lease: 60s", "" }, { "themis", "f: 10%", "" },
    { "time-slice", "quantum: 600s", "" }, { "time-slice", "packing: true", "" },
    { "unicef", "wait: unset", "" }, { "wfp3", "wait: unset", "" },
};
#define PARAMETERS (sizeof parameter / sizeof parameter[0])

/* Not shown here: worlds in which they act are larger than these. */
static const struct {
    const char *policy, *key, *why;
} elsewhere[] = {
    { "harvest", "delay", "acts where a service wants back what is borrowed: "
      "rl_policy_test.c" },
    { "elastic-hybrid", "gain_min", "acts where another size becomes better for "
      "a lease that is held, which no test shows yet" },
};

static bool is_tried(const char *policy, const char *key)
{
    size_t bytes = strlen(key);

    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (strcmp(elsewhere[i].policy, policy) == 0 &&
            strcmp(elsewhere[i].key, key) == 0)
            return true;

    for (size_t i = 0; i < PARAMETERS; i++)
        if (strcmp(parameter[i].policy, policy) == 0 &&
            strncmp(parameter[i].value, key, bytes) == 0 &&
            parameter[i].value[bytes] == ':')
            return true;
    return false;
}

static void every_parameter_acts(void **state)
{
    const struct cs_policy *policy;
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++)
        for (uint32_t k = 0; k < policy->param_count; k++)
            if (!is_tried(policy->name, policy->param[k].key)) {
                print_message("%s: %s is not tried\n", policy->name,
                              policy->param[k].key);
                wrong++;
            }
    for (size_t i = 0; i < PARAMETERS; i++) {
        bool twice = strncmp(parameter[i].value, parameter[i].beside,
                             strcspn(parameter[i].value, ":") + 1) == 0;
        struct err err;
        const struct host_policy *with =
            read_entry(parameter[i].policy, twice ? "" : parameter[i].beside,
                       parameter[i].value, &err);
        const struct host_policy *without = with == NULL ? NULL :
            read_entry(parameter[i].policy, parameter[i].beside, "", &err);

        if (without == NULL)
            fail_msg("%s, %s: %s", parameter[i].policy, parameter[i].value,
                     err.text);
        if (differ(without, with))
            continue;
        print_message("%s: %s changes nothing\n", parameter[i].policy,
                      parameter[i].value);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* ---- limits ----------------------------------------------------------------- */

static double limited(const char *entry, const char *keys, size_t w)
{
    struct err err;
    const struct host_policy *policy = read_entry(entry, keys, "", &err);
    struct trial_spec spec = experiment_trial_spec(world[w].experiment, 0);
    struct trial_tables tables = { 0 };
    struct trial_result result;

    if (policy == NULL)
        fail_msg("%s", err.text);
    spec.policy = policy;
    if (!trial_run(&spec, &tables, &result, &err))
        fail_msg("%s", err.text);
    return result.value[METRIC_LIMITED];
}

/* A limit that cuts is counted, one that leaves nothing out is not; in the fast
 * path of trials (GPUs are a count alone) as in the host. */
static void a_limit_that_cuts_is_counted(void **state)
{
    static const struct {
        const char *policy, *tight, *wide;
        size_t world;
    } row[] = {
        { "allox", "depth_max: 2", "depth_max: 200", 0 },
        { "easy", "depth_max: 1", "", 1 },
        { "learned", "depth_max: 1", "depth_max: 300", 2 },
        { "advised", "depth: 1, " ADVISED, "depth: 300, " ADVISED, 2 },
        { "pollux", "depth: 1, population: 8, generations: 5",
          "depth: 90, population: 8, generations: 5", 1 },
        { "sia", "depth: 1", "depth: 90", 1 },
        { "elasticflow", "slots_max: 20", "slots_max: 100000", 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        if (!(limited(row[i].policy, row[i].tight, row[i].world) > 0))
            fail_msg("%s {%s} cuts, and nothing is counted", row[i].policy,
                     row[i].tight);
        if (limited(row[i].policy, row[i].wide, row[i].world) > 0)
            fail_msg("%s {%s} leaves nothing out, and is counted",
                     row[i].policy, row[i].wide);
    }
    assert_true(limited("fcfs", "", 0) <= 0);
}

static void a_limit_is_counted_alike_by_both_paths(void **state)
{
    struct world small = { 0 };
    struct world_job job[60];
    struct trial_tables tables = { 0 };
    struct trial_result result[2];
    struct err err = { 0 };

    (void)state;
    world_random_jobs(3, job, 60);
    assert_true(world_trace(&small, 2, 8, job, 60, "[{policy: easy, placement: "
                            "count, depth_max: 2}]"));
    for (int k = 0; k < 2; k++) {
        struct trial_spec spec = experiment_trial_spec(small.experiment, 0);
        spec.by_host = k == 1;
        assert_true(trial_run(&spec, &tables, &result[k], &err));
    }
    assert_true(result[0].value[METRIC_LIMITED] > 0);
    assert_true(result[0].value[METRIC_LIMITED] >=
                    result[1].value[METRIC_LIMITED] &&
                result[0].value[METRIC_LIMITED] <=
                    result[1].value[METRIC_LIMITED]);
    world_close(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_accepted_where_it_acts_and_nowhere_else),
        cmocka_unit_test(every_parameter_acts),
        cmocka_unit_test(a_limit_that_cuts_is_counted),
        cmocka_unit_test(a_limit_is_counted_alike_by_both_paths),
    };
    return cmocka_run_group_tests(tests, open_worlds, close_worlds);
}
