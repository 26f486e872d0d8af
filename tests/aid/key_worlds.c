/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * key_worlds.c - small worlds, entries of policies in them, and what keys change there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/cluster/place.h"
#include "policies/registry/rules.h"
#include "sim/config/conf.h"
#include "tests/aid/key_worlds.h"

#define ENTRIES 2000

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
_Static_assert(sizeof world_text / sizeof world_text[0] == KEY_WORLDS, "as the header says");

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

struct world key_world[KEY_WORLDS];

int key_worlds_open(void **state)
{
    (void)state;
    memset(key_world, 0, sizeof key_world);
    for (size_t w = 0; w < KEY_WORLDS; w++) {
        char text[8000];

        snprintf(text, sizeof text, "%spolicies: [fcfs]\n", world_text[w]);
        if (!world_open(&key_world[w], text)) {
            print_message("%s\n", world_error(&key_world[w]));
            return 1;
        }
    }
    return 0;
}

int key_worlds_close(void **state)
{
    (void)state;
    for (size_t w = 0; w < KEY_WORLDS; w++) {
        struct world one = key_world[w];

        world_close(&one);
    }
    return 0;
}

/* Entries that were read, and of each what its jobs met in each world: 0: not known. */
static struct {
    char text[400];
    const struct host_policy *policy;
    uint64_t sum[KEY_WORLDS];
} entry[ENTRIES];
static uint32_t entries;

const struct host_policy *key_entry(const char *policy, const char *keys, const char *more,
                                    struct err *err)
{
    char text[400];
    const struct conf_node *node;

    memset(err, 0, sizeof *err);
    snprintf(text, sizeof text, "{policy: %s%s%s%s%s}", policy, *keys ? ", " : "", keys,
             *more ? ", " : "", more);
    for (uint32_t i = 0; i < entries; i++)
        if (strcmp(entry[i].text, text) == 0)
            return entry[i].policy;
    node = conf_parse(key_world[0].arena, "keys", text, strlen(text), err);
    if (node == NULL)
        fail_msg("%s", text);
    const struct host_policy *read = host_policy_read(key_world[0].arena, node, err);
    if (read != NULL && entries < ENTRIES) {
        strcpy(entry[entries].text, text);
        entry[entries++].policy = read;
    }
    return read;
}

/* As jobs_of(), kept for what key_entry() read. */
static uint64_t kept_jobs_of(size_t w, const struct host_policy *policy)
{
    for (uint32_t i = 0; i < entries; i++)
        if (entry[i].policy == policy) {
            if (entry[i].sum[w] == 0)
                entry[i].sum[w] = jobs_of(&key_world[w], policy);
            return entry[i].sum[w];
        }
    return jobs_of(&key_world[w], policy);
}

bool key_differ(const struct host_policy *a, const struct host_policy *b)
{
    for (size_t w = 0; w < KEY_WORLDS; w++) {
        uint64_t of_a = kept_jobs_of(w, a);

        if (of_a != 0 && of_a != kept_jobs_of(w, b))
            return true;
    }
    return false;
}

/* ---- semantics -------------------------------------------------------------- */

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
    const struct host_policy *plain = key_entry(name, keys, "", &err);

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
    bool as_read = memcmp(&base.rules, &plain->rules, sizeof base.rules) == 0;
    return key_differ(as_read ? plain : &base, &with);
}

unsigned key_judge(const char *name, const struct variant *variant)
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
        const struct host_policy *with = key_entry(name, keys, both, &err);
        if (with == NULL && forced_differs(name, keys, variant)) {
            print_message("%s {%s}: {%s} is refused, but acts: %s\n", name, keys,
                          both, err.text);
            wrong++;
        }
        if (with == NULL)
            continue;
        more = variant->base_keys;
        const struct host_policy *base = key_entry(name, keys, more, &err);
        if (base == NULL) {     /* the base acts with the key alone */
            struct host_policy copy = *with;
            accepted = true;
            copy.rules.noise_cv = 0.5;
            acts |= key_differ(&copy, with);
            continue;
        }
        accepted = true;
        acts |= key_differ(base, with);
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
