/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * random_experiment_test.c - whole experiments from a grammar of all that a
 * cluster, a workload and a policy may say, put together by lot.
 *
 * What is refused must say why; what is accepted must run to its end under any
 * policy: no assertion, no broken audit, no bound beaten, and the same answer
 * twice.
 * `random_experiment_test FIRST COUNT` tries others than `make test` does, and
 * `random_experiment_test SEED` prints one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "tests/aid/world.h"

#define TEXT_MAX 16384
#define EVENTS_MAX 60000

static uint64_t first_seed = 1, seed_count = 60;

struct writer {
    char text[TEXT_MAX];
    size_t bytes;
    struct rng rng;
};

static void put(struct writer *w, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    w->bytes += (size_t)vsnprintf(w->text + w->bytes, TEXT_MAX - w->bytes,
                                  format, args);
    va_end(args);
    assert(w->bytes < TEXT_MAX);
}

static uint32_t below(struct writer *w, uint32_t n)
{
    return (uint32_t)rng_below(&w->rng, n);
}

static bool chance(struct writer *w, uint32_t percent)
{
    return below(w, 100) < percent;
}

#define ONE_OF(W, LIST) ((LIST)[below(W, sizeof(LIST) / sizeof((LIST)[0]))])

static void put_rent(struct writer *w)
{
    static const char *const scale[] = { "queue", "always" };
    static const char *const notice[] = { "save", "work" };

    put(w, ", rent: {start: %us, keep: %us, min: %u, scale: %s", below(w, 300),
        below(w, 900), below(w, 2), ONE_OF(w, scale));
    if (chance(w, 60))
        put(w, ", reclaim: %umin, notice: %us, on_notice: %s",
            5 + below(w, 120), below(w, 120), ONE_OF(w, notice));
    if (chance(w, 30))
        put(w, ", available: {unit: nodes, points: [[0h, %u], [%umin, %u], "
            "[%umin, %u]], after: hold}", below(w, 3), 10 + below(w, 50),
            below(w, 3), 70 + below(w, 50), 1 + below(w, 2));
    put(w, "}");
}

static void put_nodes(struct writer *w, const char *pool, bool generic)
{
    static const char *const gpu[] = { "a100-80", "l40s", "h100" };
    static const char *const price[] = {
        "on-demand", "reserved", "9USD/h",
        "{unit: USD/h, points: [[0h, 9], [2h, 0.5]], after: hold}" };
    const char *type = generic ? "generic" : ONE_OF(w, gpu);
    uint32_t per = 1u << below(w, 4);

    put(w, "    - {name: %s, count: %u, gpus: {type: %s, count: %u}", pool,
        1 + below(w, 4), type, per);
    if (!generic) {
        put(w, ", cpu: {type: epyc-7763, sockets: %u}, memory: %uTB",
            1 + below(w, 2), 1 + below(w, 2));
        if (chance(w, 50))
            put(w, ", nvme: %ux3.84TB", 1 + below(w, 4));
        if (chance(w, 70))
            put(w, ", nics: {type: ib-hdr, count: %u}", 1 + below(w, 8));
        put(w, ", price: %s", ONE_OF(w, price));
        if (per >= 4 && chance(w, 20))
            put(w, ", pcie: {switches: 2}");
        if (per >= 2 && strcmp(type, "l40s") != 0 && chance(w, 20))
            put(w, ", nvlink: {domain: 2}");
        if (chance(w, 20))
            put_rent(w);
    }
    put(w, "}\n");
}

static void put_failures(struct writer *w, bool leaves)
{
    put(w, "  failures: {restart: %us, repair: %umin", below(w, 600),
        1 + below(w, 240));
    if (chance(w, 60))
        put(w, ", node_mtbf: %uh", 1 + below(w, 40));
    if (chance(w, 40))
        put(w, ", gpu_mtbf: %uh", 10 + below(w, 200));
    if (chance(w, 40))
        put(w, ", job_mtbf: %uh", 1 + below(w, 20));
    if (leaves && chance(w, 50))
        put(w, ", switch_mtbf: %uh", 5 + below(w, 50));
    if (chance(w, 50))
        put(w, ", checkpoint: %umin", 1 + below(w, 120));
    put(w, "}\n");
}

static bool put_cluster(struct writer *w, bool generic)
{
    static const char *const pools[] = { "train", "rollout", "third" };
    uint32_t groups = 1 + below(w, generic ? 2 : 3);
    bool leaves = chance(w, 40), fails = chance(w, 30);

    put(w, "cluster:\n  nodes:\n");
    for (uint32_t g = 0; g < groups; g++)
        put_nodes(w, pools[g], generic);
    if (!generic)
        put(w, "    - {name: cpu, count: 2, cpu: {type: epyc-7763, sockets: "
            "2}, memory: 512GB, price: 1USD/h}\n  storage: {bandwidth: "
            "%uGB/s}\n  pue: 1.2\n", 1 + below(w, 40));
    if (leaves)
        put(w, "  network: {leaf: %u nodes, oversubscription: %u}\n",
            1 + below(w, 3), 1 + below(w, 4));
    if (fails)
        put_failures(w, leaves);
    if (!generic && chance(w, 30))
        put(w, "  carbon: {unit: gCO2/kWh, points: [[0h, 100], [6h, 400]], "
            "repeat: 24h}\n");
    if (!generic && chance(w, 15))
        put(w, "  power_cap: %ukW\n", 3 + below(w, 40));
    return fails;
}

static void put_align(struct writer *w, const char *name)
{
    static const char *const recipe[] = { "grpo", "dpo", "ppo" };
    uint32_t gpus = 1u << below(w, 4);
    bool apart = chance(w, 70);
    const char *r = ONE_OF(w, recipe);

    put(w, "    - {recipe: %s, name: %s, share: 1, model: qwen2.5-%s, "
        "method: %s, zero: 3, recompute: full, prompts: %u, prompt_tokens: "
        "%u, response: {mean: %u, cv: %u, max: 2048%s}, steps: %u, epochs: "
        "%u, checkpoint_every: %u", r, name, chance(w, 50) ? "0.5b" : "7b",
        chance(w, 50) ? "lora" : "full", 64 + below(w, 200),
        50 + below(w, 500), 50 + below(w, 500), below(w, 3),
        chance(w, 30) ? ", partial: 512" : "", 1 + below(w, 6),
        1 + below(w, 2), 1 + below(w, 4));
    if (chance(w, 50))
        put(w, ", reward: {on: cpu, core_time: %ums}", 1 + below(w, 500));
    if (apart) {
        put(w, ", rollout: {gpus: %u, min: 1, max: %u, start: %s}", gpus,
            2 * gpus, chance(w, 50) ? "wake" : "process");
        if (chance(w, 30))
            put(w, ", schedule: one-step-off");
    } else {
        put(w, ", layout: colocated, offload: %s",
            chance(w, 50) ? "true" : "false");
    }
    put(w, ", train: {gpus: %u, min: 1, max: %u}, data: {cores: %u, pool: "
        "cpu}", gpus, 2 * gpus, 1 + below(w, 32));
    if (chance(w, 30))
        put(w, ", priority: %u", below(w, 3));
    put(w, "}\n");
}

static void put_train(struct writer *w, const char *name, bool fails)
{
    static const char *const recipe[] = { "sft", "lora", "pretrain" };
    const char *r = ONE_OF(w, recipe);
    uint32_t gpus = 1u << below(w, 4);

    put(w, "    - {recipe: %s, name: %s, share: 2, model: qwen2.5-0.5b, "
        "batch: 64, sequence: %u, steps: {lognormal: {mean: %u, cv: 1}, max: "
        "2000}, train: {gpus: %u, min: 1, max: %u}", r, name,
        256u << below(w, 4), 20 + below(w, 400), gpus, 2 * gpus);
    if (chance(w, 40))
        put(w, ", loader: {kind: text, from: storage, workers: %u}",
            below(w, 5));
    if (chance(w, 30))
        put(w, ", data: {cores: %u, pool: cpu}", 1 + below(w, 32));
    if (chance(w, 40))
        put(w, ", tenant: %s", name);
    if (chance(w, 30))
        put(w, ", deadline: {uniform: [10min, 5h]}");
    if (fails && chance(w, 50))
        put(w, ", checkpoint: %s", chance(w, 50) ? "young" : "daly");
    put(w, "}\n");
}

static void put_whole(struct writer *w, const char *name)
{
    put(w, "    - {recipe: trace, name: %s, share: 3, duration: {lognormal: "
        "{mean: %umin, cv: 2}, max: 10h}", name, 1 + below(w, 120));
    if (chance(w, 30))
        put(w, ", gpus: {choice: {0.25: 1, 0.5: 1, 1: 1}}");
    else if (chance(w, 40))
        put(w, ", gpus: {choice: {1: 1, 2: 1, 4: 1}}, elastic: {min: 1, max: "
            "8, scaling: {amdahl: 5%%}}");
    else
        put(w, ", gpus: {choice: {1: 4, 2: 2, 4: 1}}");
    if (chance(w, 40))
        put(w, ", limit: {uniform: [1, 3]}");
    if (chance(w, 40))
        put(w, ", deadline: {uniform: [10min, 5h]}");
    if (chance(w, 40))
        put(w, ", packing: {%s: 0.%u}", name, 2 + below(w, 8));
    put(w, "}\n");
}

static void put_service(struct writer *w)
{
    put(w, "  services:\n    - {name: chat, model: qwen2.5-0.5b, gpu: {tp: 1}, "
        "replicas: {min: %u, max: %u}, slo: {ttft: 1s}, chunk: %u, requests: "
        "{arrival: {process: poisson, rate: %u/s}, for: 10min, prompt: 200, "
        "output: {lognormal: {mean: 100, cv: 1}, max: 500}}, scaling: "
        "{signal: concurrency, target: 8, interval: 15s, down: 60s}}\n",
        below(w, 2), 1 + below(w, 4), chance(w, 50) ? 512 : 0,
        1 + below(w, 5));
}

static void put_workload(struct writer *w, bool generic, bool fails)
{
    static const char *const arrival[] = {
        "{process: poisson, rate: 10/h}", "{process: all_at_once}",
        "{process: gamma, rate: 10/h, cv: 4}",
        "{process: diurnal, rate: 6/h, amplitude: 0.9, peak: 2h}" };
    static const char *const name[] = { "one", "two", "three" };
    uint32_t entries = 1 + below(w, 3);

    put(w, "workload:\n  arrival: %s\n  jobs: %u\n", ONE_OF(w, arrival),
        1 + below(w, 14));
    if (!generic && chance(w, 20))
        put_service(w);
    put(w, "  mix:\n");
    for (uint32_t e = 0; e < entries; e++) {
        if (generic || chance(w, 25))
            put_whole(w, name[e]);
        else if (chance(w, 50))
            put_align(w, name[e]);
        else
            put_train(w, name[e], fails);
    }
}

static const char *policy_by_lot(struct writer *w)
{
    uint32_t count = 0;

    while (registry_at(count) != NULL)
        count++;
    return registry_at(below(w, count))->name;
}

/* Whatever their other keys say. */
static bool has_estimates(const char *policy)
{
    return registry_find(policy)->flags & CS_ASKS_ESTIMATES &&
           policy_key_needs(registry_find(policy), "estimate") == NULL;
}

static bool has_cost(const char *policy)
{
    return world_accepts(policy, ", preemption") &&
           policy_key_needs(registry_find(policy), "preemption") == NULL;
}

static void put_policy(struct writer *w, uint32_t number)
{
    static const char *const placement[] = {
        "count", "first_fit", "best_fit", "pack", "spread", "worst_fit",
        "random", "dot_product", "gpu_packing", "gpu_clustering", "fgd",
        "consolidate", "topology", "helios" };
    static const char *const estimate[] = { "exact", "requested", "noisy" };

    const char *policy = policy_by_lot(w);

    put(w, "  - {policy: %s, name: p%u", policy, number);
    if (chance(w, 50) && (strcmp(policy, "gavel") == 0 ||
                          strcmp(policy, "time-slice") == 0))
        put(w, ", packing: true");
    if (chance(w, 50) && strcmp(policy, "lucid") == 0)
        put(w, ", packs: always, score_max: %u", 2 + below(w, 3));
    if (chance(w, 40) && world_accepts(policy, ", blocking"))
        put(w, ", blocking: %s", chance(w, 50) ? "skip" : "strict");
    if (chance(w, 50))
        put(w, ", placement: %s", ONE_OF(w, placement));
    if (chance(w, 30) && has_estimates(policy))
        put(w, ", estimate: %s", ONE_OF(w, estimate));
    if (chance(w, 20) && has_cost(policy))
        put(w, ", preemption: {cost: %us}", below(w, 120));
    if (chance(w, 15))
        put(w, ", rounds: {length: %us}", 30 + below(w, 600));
    put(w, "}\n");
}

static void write_experiment(struct writer *w, uint64_t seed)
{
    bool generic = false, fails;

    w->bytes = 0;
    rng_init(&w->rng, seed, "experiment", 0);
    generic = chance(w, 35);
    put(w, "experiment: lot\nseed: %llu\nseeds: 1\nuntil: %s\n"
        "event_count_max: %d\n", (unsigned long long)seed,
        chance(w, 80) ? "drained" : "12h", EVENTS_MAX);
    if (!generic && chance(w, 20))
        put(w, "fidelity: step\n");
    if (chance(w, 20))
        put(w, "warmup: 10min\n");
    fails = put_cluster(w, generic);
    put_workload(w, generic, fails);
    put(w, "policies:\n");
    for (uint32_t p = 0; p < 4; p++)
        put_policy(w, p);
}

/* What no policy could beat, none has beaten; sums may round. */
static bool obeys(const struct trial_result *result, enum metric bound,
                  enum metric value)
{
    double least = result->value[bound], found = result->value[value];

    return !(found < least - 1e-9 * fabs(least));   /* and not known: nan */
}

static void obey_bounds(const struct trial_result *result, uint64_t seed,
                        uint32_t policy, const char *text)
{
    static const struct {
        enum metric bound, value;
    } pair[] = {
        { METRIC_JCT_BOUND, METRIC_JCT_MEAN },
        { METRIC_MAKESPAN_BOUND, METRIC_MAKESPAN },
        { METRIC_COST_BOUND, METRIC_HELD_COST },
        { METRIC_COST_BOUND, METRIC_COST },
    };

    for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++)
        if (!obeys(result, pair[i].bound, pair[i].value))
            fail_msg("seed %llu, policy %u: metric %d is %.17g, its bound "
                     "%.17g\n%s", (unsigned long long)seed, policy,
                     (int)pair[i].value, result->value[pair[i].value],
                     result->value[pair[i].bound], text);
}

/* A trial may end in a limit or a policy's fault; never in ours. */
static void run_one(struct world *world, uint32_t i, uint64_t seed,
                    const char *text)
{
    struct trial_result a, b;
    bool ran = world_run(world, i, NULL, NULL, &a);
    struct err first = world->err;

    if (!ran && (first.kind == ERR_BUG || first.text[0] == '\0'))
        fail_msg("seed %llu, policy %u: %s\n%s", (unsigned long long)seed, i,
                 first.text, text);
    assert_true(ran == world_run(world, i, NULL, NULL, &b));
    if (!ran)
        return;
    obey_bounds(&a, seed, i, text);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (memcmp(&a.value[m], &b.value[m], sizeof a.value[m]) != 0)
            fail_msg("seed %llu, policy %u: metric %d is %g, then %g",
                     (unsigned long long)seed, i, m, a.value[m], b.value[m]);
}

static void experiments_by_lot_run_or_say_why_not(void **state)
{
    static struct writer w;
    uint64_t accepted = 0;

    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        struct world world = { 0 };

        write_experiment(&w, seed);
        if (world_open(&world, w.text)) {
            accepted++;
            for (uint32_t i = 0; i < 4; i++)
                run_one(&world, i, seed, w.text);
        } else {
            assert_true(world.err.kind != ERR_BUG);
            assert_true(world.err.text[0] != '\0');
            if (seed_count < 10)
                print_message("%s\n%s\n", w.text, world.err.text);
        }
        world_close(&world);
    }
    print_message("%llu of %llu accepted\n", (unsigned long long)accepted,
                  (unsigned long long)seed_count);
    assert_true(seed_count < 10 || accepted > seed_count / 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(experiments_by_lot_run_or_say_why_not),
    };

    if (argc == 2) {            /* shown, not run */
        static struct writer w;

        write_experiment(&w, strtoull(argv[1], NULL, 10));
        fputs(w.text, stdout);
        return 0;
    }
    if (argc == 3) {
        first_seed = strtoull(argv[1], NULL, 10);
        seed_count = strtoull(argv[2], NULL, 10);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
