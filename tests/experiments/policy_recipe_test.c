/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * policy_recipe_test.c - every policy with every recipe: a small experiment ends,
 * with all jobs done, or it is refused before it starts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "experiments/preflight/abilities.h"
#include "experiments/preflight/places.h"
#include "policies/policy.h"
#include "tests/aid/world.h"

#define TEXT_MAX 8192
#define JOBS 6

#define RL "model: qwen2.5-7b, method: lora, recompute: full, zero: 2, " \
    "micro_batch: 2, prompts: 64, prompt_tokens: 256, steps: 3, response: " \
    "{mean: 500, cv: 1, max: 3072}, train: {gpus: 4, max: 8}"
#define SFT "model: qwen2.5-7b, method: lora, recompute: full, batch: 64, " \
    "sequence: 2048, micro_batch: 1, steps: 40, train: {gpus: 4, min: 2, max: 8}"
#define BERT "recipe: batch-infer, model: bert-base, precision: int8, prompts: " \
    "5000, prompt_tokens: 128, steps: 2, infer: "

/* A kind of job.  `turns`: its phases last longer than a turn of time-slice. */
static const struct kind {
    const char *name, *keys;
    bool turns;
} kinds[] = {
    { "trace", "recipe: trace, gpus: 4, duration: 30min", false },
    { "trace", "recipe: trace, gpus: 4, duration: 30min, elastic: {min: 1, max: 8, "
      "scaling: linear}", false },
    { "batch-infer", "recipe: batch-infer, model: qwen2.5-7b, prompts: 4096, "
      "prompt_tokens: 800, response: {mean: 300, cv: 1, max: 2048}, steps: 10, "
      "infer: {gpus: 4, min: 2, max: 8}", true },
    { "batch-infer", "recipe: batch-infer, model: qwen2.5-7b, prompts: 4096, "
      "prompt_tokens: 800, steps: 3, infer: {gpus: 4, min: 2, max: 8}", false },
    { "batch-infer", BERT "{gpus: 1, types: [a100-80, cpu], cpu: {cores: 28}}", false },
    { "batch-infer", BERT "{types: [cpu], cpu: {cores: 28}}", false },
    { "pretrain", "recipe: pretrain, zero: 3, model: qwen2.5-1.5b, batch: 64, "
      "sequence: 2048, micro_batch: 1, recompute: full, steps: 40, train: {gpus: 4, "
      "max: 8}", false },
    { "sft", "recipe: sft, " SFT, false },
    { "sft", "recipe: sft, " SFT ", data: {cores: 8}", false },
    { "lora", "recipe: lora, model: llama-3.1-8b, recompute: full, batch: 64, "
      "sequence: 2048, micro_batch: 2, steps: 40, train: {gpus: 4, min: 2, max: 8}",
      false },
    { "multimodal", "recipe: multimodal, loader: {kind: image, size: 1048576, "
      "per_sequence: 2}, " SFT, false },
    { "dpo", "recipe: dpo, responses: 4, pairs: 2, rollout: {gpus: 4, max: 8}, " RL,
      false },
    { "grpo", "recipe: grpo, responses: 8, rollout: {gpus: 4, max: 8}, " RL, false },
    { "grpo", "recipe: grpo, responses: 8, layout: colocated, " RL, false },
    { "ppo", "recipe: ppo, rollout: {gpus: 4, max: 8}, " RL, false },
    { "net", "recipe: net, model: resnet-50, batch: 2048, micro_batch: 256, steps: "
      "2000, loader: {kind: image, size: 150528}, train: {gpus: 8, cores: 16}", false },
};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* Some policies must be told of a pool. */
static const char *entry_of(const char *policy)
{
    static const char *const told[][2] = {
        { "starburst", "{policy: starburst, cloud: train}" },
        { "harvest", "{policy: harvest, from: train}" },
        { "spot-rollout", "{policy: spot-rollout, spot: rollout}" },
    };

    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        if (strcmp(told[i][0], policy) == 0)
            return told[i][1];
    return policy;
}

static void write_experiment(const struct kind *kind, char *out)
{
    static const char node[] = "count: 1, gpus: {type: a100-80, count: 8}, cpu: {type: "
        "epyc-7742, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: 8}";
    size_t n = (size_t)snprintf(
        out, TEXT_MAX, "experiment: x\nseeds: 1\ncluster:\n  storage: {bandwidth: "
        "20GB/s}\n  nodes:\n    - {name: rollout, %s}\n    - {name: train, %s}\n"
        "workload:\n  arrival: {process: poisson, rate: 60/h}\n  jobs: %d\n  mix:\n"
        "    - {name: j, %s}\npolicies:\n", node, node, JOBS, kind->keys);

    for (uint32_t p = 0; registry_at(p) != NULL && n < TEXT_MAX; p++)
        n += (size_t)snprintf(out + n, TEXT_MAX - n, "  - %s\n",
                              entry_of(registry_at(p)->name));
    assert_true(n < TEXT_MAX);
}

struct told {
    char text[64][240];
    uint32_t count;
};

static void tell(void *self, const struct err *err)
{
    struct told *told = self;

    assert_true(told->count < 64 && err->hint[0] != '\0');
    snprintf(told->text[told->count++], sizeof told->text[0], "%s", err->text);
}

static bool is_told(const struct told *told, const char *policy)
{
    char word[80];

    snprintf(word, sizeof word, "policy %s", policy);
    for (uint32_t i = 0; i < told->count; i++) {
        const char *at = strstr(told->text[i], word);

        if (at != NULL && (at[strlen(word)] == ':' || at[strlen(word)] == ' '))
            return true;
    }
    return false;
}

/* Turns of 60 s are shorter than the start of an engine and a batch. */
static void expect_no_progress(const struct world *world, bool ran)
{
    assert_false(ran);
    assert_int_equal(world->err.kind, ERR_POLICY);
    assert_non_null(strstr(world->err.text, "6000 stops in a row saved nothing"));
    assert_non_null(strstr(world->err.hint, "Phase infer of j takes "));
}

static uint32_t run_kind(const struct kind *kind)
{
    static char text[TEXT_MAX];
    struct world world = { 0 };
    struct told told = { .count = 0 };
    uint32_t ran = 0;

    write_experiment(kind, text);
    if (!world_open(&world, text))
        fail_msg("%s: %s", kind->keys, world_error(&world));
    places_check(world.arena, world.experiment, tell, &told);
    for (uint32_t p = 0; registry_at(p) != NULL; p++) {
        const char *name = registry_at(p)->name;
        struct trial_result result;

        if (is_told(&told, name))
            continue;
        bool ok = world_run(&world, p, NULL, NULL, &result);
        if (kind->turns && strcmp(name, "time-slice") == 0)
            expect_no_progress(&world, ok);
        else if (!ok || result.value[METRIC_JOBS_DONE] != JOBS)
            fail_msg("%s under %s: %s", kind->keys, name, world_error(&world));
        ran++;
    }
    world_close(&world);
    return ran;
}

static void every_policy_runs_every_recipe_or_it_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        uint32_t ran = run_kind(&kinds[i]);

        if (ran < 30)
            fail_msg("%s: no more than %u policies ran", kinds[i].keys, ran);
    }
}

/* Is it the name that the list of recipes, an identifier in C, stands for? */
static bool is_name_of(const char *id, const char *name)
{
    while (*id != '\0' && (*id == *name || (*id == '_' && *name == '-'))) {
        id++;
        name++;
    }
    return *id == *name;
}

static void every_recipe_is_among_them(void **state)
{
#define RECIPE(ID) #ID,
    static const char *const all[] = {
#include "workloads/recipes/recipes.def"
    };
#undef RECIPE

    (void)state;
    for (size_t r = 0; r < sizeof all / sizeof all[0]; r++) {
        size_t i = 0;

        while (i < KINDS && !is_name_of(all[r], kinds[i].name))
            i++;
        if (i == KINDS)
            fail_msg("recipe %s is not tried", all[r]);
    }
}

static void check_kind(const char *keys, struct told *told, struct told *warned)
{
    static char text[TEXT_MAX];
    struct kind kind = { "", keys, false };
    struct world world = { 0 };

    write_experiment(&kind, text);
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    told->count = warned->count = 0;
    places_check(world.arena, world.experiment, tell, told);
    abilities_warn(world.experiment, tell, warned);
    world_close(&world);
}

static void what_a_policy_cannot_do_is_told_before_it_runs(void **state)
{
    static struct told told, warned;

    (void)state;
    check_kind(kinds[12].keys, &told, &warned);         /* grpo */
    assert_int_equal(told.count, 6);
    assert_string_equal(told.text[0], "j can never start under policy gavel: it deals "
                        "jobs of one role, and this one has 3");
    assert_int_equal(warned.count, 0);

    check_kind(BERT "{types: [cpu], cpu: {cores: 28}}", &told, &warned);
    assert_int_equal(told.count, 7);
    assert_true(is_told(&told, "synergy") && is_told(&told, "themis") &&
                is_told(&told, "allox"));
    assert_string_equal(told.text[0], "j can never start under policy gavel: it deals "
                        "GPUs, and this job computes on cores alone");
    assert_int_equal(warned.count, 0);

    check_kind(BERT "{gpus: 1, cpu: {cores: 28}}", &told, &warned);
    assert_int_equal(told.count, 0);
    assert_true(is_told(&warned, "srtf") && is_told(&warned, "harvest") &&
                is_told(&warned, "pollux") && is_told(&warned, "lucid") &&
                is_told(&warned, "allox") && is_told(&warned, "synergy") &&
                is_told(&warned, "quota"));
    assert_false(is_told(&warned, "conservative") || is_told(&warned, "fcfs") ||
                 is_told(&warned, "dynamic"));
    assert_string_equal(warned.text[0], "policy srtf uses the GPUs alone of role infer "
                        "of j, which may run on cores too: it deals GPUs, or stops, resizes "
                        "or packs jobs");

    /* The pool is that of the services of harvest, in which only rollouts borrow. */
    check_kind("recipe: trace, gpus: 1, duration: 1h, role: {pool: train}", &told, &warned);
    assert_int_equal(told.count, 1);
    assert_true(is_told(&told, "harvest"));
    assert_int_equal(warned.count, 12);
    assert_true(is_told(&warned, "optimus") && is_told(&warned, "afs") &&
                is_told(&warned, "elasticflow") && is_told(&warned, "themis") &&
                is_told(&warned, "srsf") && is_told(&warned, "fewest-gpus") &&
                is_told(&warned, "las") && is_told(&warned, "dlas") &&
                is_told(&warned, "gittins") && is_told(&warned, "time-slice"));
    assert_string_equal(warned.text[0], "policy srtf plans all GPUs as one kind, and j may "
                        "not use those of pool rollout: jobs may wait beside idle GPUs");
    check_kind("recipe: trace, gpus: 1, duration: 1h", &told, &warned);
    assert_int_equal(warned.count, 0);
}

/* `validate` refuses the jobs, and a run ends with that reason. */
static void who_deals_whole_gpus_refuses_parts_of_them(void **state)
{
    static const char *const policy[] = { "allox", "themis" };
    static struct told told, warned;

    (void)state;
    check_kind("recipe: trace, gpus: 0.5, duration: 1h", &told, &warned);
    assert_int_equal(told.count, 2);
    assert_string_equal(told.text[0], "j can never start under policy allox: it deals whole "
                        "GPUs, and this job asks for a part of one");
    assert_true(is_told(&told, "themis"));
    for (size_t i = 0; i < 2; i++) {
        struct world world = { 0 };
        char text[500];

        snprintf(text, sizeof text, "experiment: x\nseeds: 1\ncluster: {nodes: [{name: a, "
                 "count: 1, gpus: {type: generic, count: 8}}]}\nworkload: {arrival: {process: "
                 "all_at_once}, jobs: 2, mix: [{recipe: trace, gpus: 0.5, duration: 1h}]}\n"
                 "policies: [%s]\n", policy[i]);
        assert_true(world_open(&world, text));
        assert_false(world_run(&world, 0, NULL, NULL, NULL));
        assert_non_null(strstr(world_error(&world), "it deals whole GPUs, and a job asks for a "
                               "part of one"));
        world_close(&world);
    }
}

/* Of two pods of a trace the one without GPUs starts under policies that deal cores,
 * too. */
static void a_pod_without_gpus_is_told_before_it_runs(void **state)
{
    static const char *const deals_gpus[] = { "allox", "synergy", "optimus", "afs",
                                              "elasticflow", "themis", "gavel" };
    static struct told told;
    struct world world = { 0 };

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus,cores\n0,0,300,2,16\n"
                "1,0,300,0,8\n");
    if (!world_open(&world, "experiment: t\nseeds: 1\ncluster: {nodes: [{name: a, count: "
                    "1, gpus: {type: generic, count: 8}, cores: 64, memory: 64GiB}]}\n"
                    "workload: {trace: {file: jobs.csv, format: csv, origin: file, columns: "
                    "{job: job, submit: submit, duration: duration, gpus: gpus, cores: "
                    "cores}}}\npolicies: [fcfs, las, easy, srtf, allox, synergy, optimus, "
                    "afs, elasticflow, themis, gavel]\n"))
        fail_msg("%s", world_error(&world));
    told.count = 0;
    places_check(world.arena, world.experiment, tell, &told);
    assert_int_equal(told.count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_true(is_told(&told, deals_gpus[i]));
    assert_non_null(strstr(told.text[0], "it deals GPUs, and this job computes on cores "
                                         "alone"));
    world_close(&world);
}

/* A pool that must be named, and whose default this cluster lacks. */
static void a_default_that_names_no_pool_is_refused(void **state)
{
    static const char *const word[][2] = {
        { "starburst", "cloud" }, { "harvest", "from" }, { "spot-rollout", "spot" }
    };

    (void)state;
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++) {
        struct world world = { 0 };
        char text[600], expected[80];

        snprintf(text, sizeof text, "experiment: x\nseeds: 1\ncluster: {nodes: [{name: "
                 "a, count: 1, gpus: {type: generic, count: 8}}]}\nworkload: {arrival: "
                 "{process: all_at_once}, jobs: 1, mix: [{recipe: trace, gpus: 1, "
                 "duration: 1h}]}\npolicies: [%s]\n", word[i][0]);
        snprintf(expected, sizeof expected, "'%s' of policy %s must be one of a, and "
                 "is not set", word[i][1], word[i][0]);
        assert_false(world_open(&world, text));
        assert_int_equal(world.err.kind, ERR_REFERENCE);
        if (strstr(world.err.text, expected) == NULL)
            fail_msg("%s", world.err.text);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_runs_every_recipe_or_it_is_refused),
        cmocka_unit_test(every_recipe_is_among_them),
        cmocka_unit_test(what_a_policy_cannot_do_is_told_before_it_runs),
        cmocka_unit_test(who_deals_whole_gpus_refuses_parts_of_them),
        cmocka_unit_test(a_pod_without_gpus_is_told_before_it_runs),
        cmocka_unit_test(a_default_that_names_no_pool_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
