/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bounds_form_test.c - jobs of phases: no policy beats their bounds, on mixed
 * clusters and over tens of mixes; a job alone comes near; and what the search
 * leaves out could not be less.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/phase.h"
#include "tests/aid/law_aids.h"
#include "tests/aid/world.h"

#define CLUSTER "{nodes: [{name: rollout, count: 2, gpus: {type: l40s, " \
    "count: 8}, cpu: {type: epyc-9654, sockets: 2}, memory: 1TB, nics: " \
    "{type: ib-hdr, count: 1}, price: on-demand}, {name: train, count: 2, " \
    "gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7742, sockets: 2}, " \
    "memory: 1TB, nics: {type: ib-hdr, count: 8}, price: on-demand}, {name: " \
    "cpu, count: 1, cpu: {type: epyc-7763, sockets: 2}, memory: 512GB, " \
    "price: 1USD/h}], storage: {bandwidth: 10GB/s}}"
#define ALIGN "responses: 4, prompt_tokens: 300, response: {mean: 300, cv: " \
    "1, max: 2048}, reward: {on: cpu, core_time: 50ms}, steps: {uniform: " \
    "[4, 12]}, rollout: {gpus: 8, min: 4, max: 16, types: [l40s, a100-80], " \
    "tp: 1}, train: {gpus: 8, min: 4, max: 16, types: [a100-80, l40s]}, " \
    "data: {cores: 16, pool: cpu}"
#define MIX "[{recipe: grpo, share: 0.4, model: qwen2.5-7b, prompts: 64, " \
    ALIGN "}, {recipe: ppo, share: 0.2, model: qwen2.5-1.5b, prompts: 256, " \
    ALIGN "}, {recipe: grpo, name: off, share: 0.2, schedule: one-step-off, " \
    "model: qwen2.5-1.5b, prompts: 64, " ALIGN "}, {recipe: sft, share: " \
    "0.2, model: qwen2.5-1.5b, method: lora, batch: 64, sequence: 1024, " \
    "steps: 200, train: {gpus: 4, min: 2, max: 8}}]"
#define POLICIES "[static, {policy: dynamic, name: far}, {policy: dynamic, " \
    "lend: false}, hybrid, random, learned, {policy: fcfs, name: wide, " \
    "placement: spread}, srtf, time-slice, {policy: fcfs, name: skip, " \
    "placement: pack, blocking: skip}]"
#define POLICY_COUNT 10u

static void open_mix(struct world *world, const char *mix, uint32_t jobs,
                     uint64_t seed)
{
    char text[8192];

    snprintf(text, sizeof text,
             "experiment: t\nseed: %llu\nseeds: 1\nuntil: drained\n"
             "cluster: %s\nworkload: {arrival: {process: poisson, rate: "
             "20/h}, jobs: %u, mix: %s}\npolicies: %s\n",
             (unsigned long long)seed, CLUSTER, jobs, mix, POLICIES);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

static void no_policy_beats_a_bound_of_phases(void **state)
{
    struct trial_result result;

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct world world = { 0 };

        open_mix(&world, MIX, 12, seed);
        for (uint32_t i = 0; i < POLICY_COUNT; i++) {
            const double *value = result.value;

            if (!world_run(&world, i, NULL, NULL, &result))
                fail_msg("%s", world_error(&world));
            assert_true(value[METRIC_JCT_BOUND] > 0);
            assert_true(value[METRIC_JCT_BOUND] <= value[METRIC_JCT_MEAN]);
            assert_true(value[METRIC_MAKESPAN_BOUND] <=
                        value[METRIC_MAKESPAN]);
            assert_true(value[METRIC_COST_BOUND] > 0);
            assert_true(value[METRIC_COST_BOUND] <=
                        value[METRIC_HELD_COST]);
        }
        world_close(&world);
    }
}

/* Cost counts from the end of the warm-up, and so does its bound. */
static void what_came_before_the_warm_up_costs_nothing(void **state)
{
    static char text[4096];
    struct world world = { 0 };
    struct trial_result result;
    const double *value = result.value;

    (void)state;
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\nwarmup: 1000h\n"
             "cluster: %s\nworkload: {arrival: {process: poisson, rate: "
             "20/h}, jobs: 12, mix: %s}\npolicies: %s\n", CLUSTER, MIX,
             POLICIES);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, NULL, &result))
        fail_msg("%s", world_error(&world));
    assert_true(value[METRIC_COST] == 0);
    assert_true(isnan(value[METRIC_COST_BOUND]));
    assert_true(value[METRIC_HELD_COST] == 0);
    assert_true(value[METRIC_JOBS] == 0 && value[METRIC_MAKESPAN] == 0);
    assert_true(isnan(value[METRIC_MAKESPAN_BOUND]));
    world_close(&world);
}

/* All that keeps a lone job above its bound are the starts of its leases,
 * links, and the draw rounded down. */
static void a_job_alone_comes_near_its_bound(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_mix(&world, "[{recipe: sft, model: qwen2.5-1.5b, method: lora, "
             "batch: 64, sequence: 1024, steps: 5000, train: {gpus: 8, types: "
             "[a100-80]}}]", 1, 1);
    assert_true(world_run(&world, 6, NULL, NULL, &result));
    assert_true(result.value[METRIC_GAP] > 0);
    assert_true(result.value[METRIC_GAP] < 0.05);
    world_close(&world);
}

/* Of a rollout only the fewest and the most GPUs are tried, less 3%, where its
 * lengths differ. */
static void nothing_between_fewest_and_most_engines_is_much_less(void **state)
{
    static const struct { const char *llm, *gpu; uint32_t tp; double n; } is[]
        = { { "qwen2.5-7b", "l40s", 1, 256 }, { "qwen2.5-7b", "a100-80", 1,
            2048 }, { "qwen2.5-1.5b", "l4", 1, 64 }, { "qwen2.5-32b", "h100",
            2, 512 }, { "llama-3-70b", "h100", 4, 128 } };
    struct law_aids aids = law_aids_new();
    double nearest = INFINITY;

    (void)state;
    for (size_t i = 0; i < sizeof is / sizeof is[0]; i++)
        for (double cv = 0.5; cv <= 2.5; cv += 0.5)
            for (int k = 0; k < 64; k += 7) {
                struct phase_law law = { .kind = LAW_ROLLOUT, .repeats = 1,
                    .rollout = { .llm = catalogue_llm(aids.catalogue,
                                                      is[i].llm),
                                 .precision = PRECISION_BF16, .tp = is[i].tp,
                                 .responses = is[i].n,
                                 .responses_per_prompt = 4,
                                 .prompt_tokens = 300,
                                 .response_mean_tokens = 600,
                                 .response_cv = cv,
                                 .response_max_tokens = 8192 } };
                double s[17], least_s, least_gpu_s;

                for (uint32_t r = 1; r <= 16; r++) {
                    struct gang gang = law_gang(&aids, is[i].gpu,
                                                r * is[i].tp, 8, 1e11);

                    s[r] = phase_seconds(&law, &gang, k / 64.0);
                }
                least_s = 0.97 * fmin(s[1], s[16]);
                least_gpu_s = 0.97 * fmin(s[1], 16 * s[16]);
                for (uint32_t r = 1; r <= 16; r++) {
                    assert_true(s[r] >= least_s);
                    assert_true(r * s[r] >= least_gpu_s);
                    nearest = fmin(nearest, s[r] / least_s);
                }
            }
    assert_true(nearest < 1.03);
    law_aids_free(&aids);
}

/* A bound of a draw rounded down is one of the draw. */
static void rollouts_last_longer_with_their_draw(void **state)
{
    struct law_aids aids = law_aids_new();
    struct phase_law law = { .kind = LAW_ROLLOUT, .repeats = 1,
        .rollout = { .llm = catalogue_llm(aids.catalogue, "qwen2.5-7b"),
                     .precision = PRECISION_BF16, .tp = 1, .responses = 512,
                     .responses_per_prompt = 8, .prompt_tokens = 300,
                     .response_mean_tokens = 600, .response_cv = 1.2,
                     .response_max_tokens = 4096 } };
    struct gang gang = law_gang(&aids, "a100-80", 8, 8, 1e11);
    double before = 0;

    (void)state;
    for (int k = 0; k < 500; k++) {
        double s = phase_seconds(&law, &gang, k / 500.0);

        assert_true(s >= before);
        before = s;
    }
    law_aids_free(&aids);
}

static void steps_simulated_one_by_one_have_no_bound(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\n"
                    "fidelity: step\ncluster: " CLUSTER "\nworkload: "
                    "{arrival: {process: all_at_once}, jobs: 2, mix: " MIX
                    "}\npolicies: [fcfs]\n"))
        fail_msg("%s", world_error(&world));
    assert_true(world_run(&world, 0, NULL, NULL, &result));
    assert_true(isnan(result.value[METRIC_JCT_BOUND]));
    world_close(&world);
}

/* A job gets 6 cores for each of 8 GPUs, hence 6 workers a process, which start one
 * after the other, 3.3 s each, at each epoch.  An image of 150,000 pixels has 150e3 /
 * (500 * 375) * 138e9 / 1281167 = 86,171 bytes, so that 5 GB are 58,024 images and 2000
 * steps of 64 are 2.206 epochs.  Some other gang may have started all at once: the bound
 * counts none of 2.206 * 6 * 3.3 = 43.68 s.  A node of 128 cores would have started 16
 * workers a process, in 116 s. */
static void a_bound_starts_all_workers_at_once(void **state)
{
    struct world world = { 0 };
    struct trial_result result;
    const double *value = result.value;

    (void)state;
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: "
                    "{nodes: [{name: a, count: 1, gpus: {type: a100-80, count: 8}, cpu: "
                    "{type: epyc-7742, sockets: 2}, memory: 1TB}], storage: {bandwidth: "
                    "20GB/s}}\nworkload: {arrival: {process: fixed, times: [0s]}, mix: "
                    "[{recipe: multimodal, model: llama-3.2-1b, steps: 2000, batch: 64, "
                    "sequence: 200, checkpoint_every: 0, train: {gpus: 8}, loader: {kind: "
                    "image, size: 150000, dataset: 5GB, epoch: spawn}}]}\n"
                    "policies: [fcfs]\n") ||
        !world_run(&world, 0, NULL, NULL, &result))
        fail_msg("%s", world_error(&world));
    assert_true(value[METRIC_JCT_BOUND] > 0);
    assert_true(value[METRIC_JCT_BOUND] <= value[METRIC_JCT_MEAN] - 43.6);
    world_close(&world);
}

/* Runs one job of a role `train` on nodes of 8 GPUs, and returns its bound. */
static double bound_of_training(uint32_t nodes, const char *train)
{
    char text[1000];
    struct world world = { 0 };
    struct trial_result result;

    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\ncluster: {nodes: [{name: n, count: %u, gpus: {type: "
             "a100-80, count: 8}, cpu: {type: epyc-7763, sockets: 2}, memory: 1TB, nics: "
             "{type: ib-hdr, count: 8}}], storage: {bandwidth: 20GB/s}}\n"
             "workload: {arrival: {process: all_at_once}, jobs: 1, mix: [{recipe: sft, model: "
             "qwen2.5-1.5b, method: lora, batch: 1024, sequence: 1024, steps: 50, train: "
             "{%s}}]}\npolicies: [fcfs]\n", nodes, train);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, NULL, &result))
        fail_msg("%s", world_error(&world));
    assert_true(result.value[METRIC_JCT_MEAN] > 0);
    double bound = result.value[METRIC_JCT_BOUND];
    assert_true(isnan(bound) || bound <= result.value[METRIC_JCT_MEAN]);
    world_close(&world);
    return bound;
}

/* Steps of 1,024 sequences take the least time on the most GPUs that divide them, so a job
 * that may have 8 to 128 has the bound of one that has 128.  They are on 16 nodes at most,
 * as there are no more: from 8 GPUs to 128 there are 940 gangs then, and 7,268 on nodes
 * without end.  On 64 nodes 8 to 512 GPUs have 14,596. */
static void an_elastic_job_has_the_bound_of_its_most_gpus(void **state)
{
    static const struct { uint32_t nodes; const char *elastic, *most; } of[] = {
        { 16, "gpus: 8, min: 8, max: 64", "gpus: 64" },
        { 16, "gpus: 8, min: 8, max: 128", "gpus: 128" },
        { 64, "gpus: 8, min: 8, max: 512", "gpus: 512" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        double most = bound_of_training(of[i].nodes, of[i].most);

        assert_true(most > 0);
        assert_true(bound_of_training(of[i].nodes, of[i].elastic) == most);
    }
}

/* From 8 GPUs to 2,048 on up to 256 nodes there are more gangs than are tried: a bound over
 * some of them would be none. */
static void a_bound_that_did_not_try_all_gangs_is_none(void **state)
{
    (void)state;
    assert_true(isnan(bound_of_training(256, "gpus: 8, min: 8, max: 2048")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_policy_beats_a_bound_of_phases),
        cmocka_unit_test(what_came_before_the_warm_up_costs_nothing),
        cmocka_unit_test(a_job_alone_comes_near_its_bound),
        cmocka_unit_test(nothing_between_fewest_and_most_engines_is_much_less),
        cmocka_unit_test(rollouts_last_longer_with_their_draw),
        cmocka_unit_test(steps_simulated_one_by_one_have_no_bound),
        cmocka_unit_test(a_bound_starts_all_workers_at_once),
        cmocka_unit_test(an_elastic_job_has_the_bound_of_its_most_gpus),
        cmocka_unit_test(a_bound_that_did_not_try_all_gangs_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
