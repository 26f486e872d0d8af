/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rollout_fidelity_test.c - the rollout law, which is one formula for the whole
 * batch, against a simulation of every response and every change of a batch
 * through the same laws of a step (models/serving/rollout_steps.h).
 *
 * The table that it prints with the argument 400 is in models/validation/README.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/decode.h"
#include "models/serving/rollout_steps.h"
#include "models/types/gang.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

#define RUNS_MAX 4000
#define SLOTS 256               /* of a replica */

struct config {
    const char *what, *llm, *gpu;
    uint32_t tp, gpus;
    double responses, prompt, mean, cv, max;
    double mean_error, p95_error;       /* at most */
    double part;                        /* partial rollout; 0: whole */
};

static const struct config configs[] = {
    { "one batch", "qwen2.5-7b", "l40s", 1, 1, 64, 300, 300, 1, 2048,
      0.02, 0.05, 0 },
    { "a full batch", "qwen2.5-7b", "l40s", 1, 1, 256, 300, 300, 1, 2048,
      0.02, 0.05, 0 },
    { "slots filled again", "qwen2.5-7b", "l40s", 1, 1, 1024, 300, 300, 1,
      2048, 0.02, 0.05, 0 },
    { "eight replicas", "llama-3-8b", "a100-80", 1, 8, 512, 500, 800, 1.2,
      4096, 0.03, 0.05, 0 },
    { "refilled, two", "llama-3-8b", "a100-80", 1, 2, 2048, 200, 400, 0.7,
      2048, 0.02, 0.05, 0 },
    { "long tail, TP 4", "qwen2.5-32b", "h100", 4, 8, 256, 500, 1000, 1.5,
      8192, 0.02, 0.05, 0 },
    { "short, narrow", "qwen2.5-1.5b", "l4", 1, 1, 128, 200, 200, 0.5, 1024,
      0.02, 0.05, 0 },
    { "TP 8", "llama-3-70b", "h100", 8, 8, 128, 800, 600, 1, 4096,
      0.03, 0.05, 0 },
    { "few responses", "qwen2.5-7b", "a100-80", 1, 1, 16, 300, 1000, 1, 4096,
      0.02, 0.05, 0 },
    { "four of TP 2", "qwen2.5-7b", "h20", 2, 8, 1024, 600, 1500, 1.2, 8192,
      0.02, 0.05, 0 },
    { "in parts of 2048", "qwen2.5-7b", "a100-80", 1, 1, 192, 300, 1000, 1.2,
      8192, 0.02, 0.07, 2048 },
    { "in parts of 1536, refilled", "llama-3-8b", "h100", 1, 2, 1024, 200,
      600, 1, 4096, 0.02, 0.05, 1536 },
    { "in parts of 512, refilled", "llama-3-8b", "h100", 1, 2, 512, 200, 600,
      1, 4096, 0.03, 0.05, 512 },
};
#define CONFIGS (sizeof configs / sizeof configs[0])

static int runs = 200;         /* of each */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void compare(const struct config *c, const struct catalogue *catalogue)
{
    const struct gpu_type *gpu = catalogue_gpu(catalogue, c->gpu);
    struct gang gang = {
        .gpu = gpu, .gpus = c->gpus, .nodes = 1,
        .intra_bps = gpu->nvlink_bps > 0 ? gpu->nvlink_bps : gpu->pcie_bps,
    };
    struct rollout_shape shape = {
        .llm = catalogue_llm(catalogue, c->llm), .precision = PRECISION_BF16,
        .tp = c->tp, .responses = c->responses, .responses_per_prompt = 1,
        .prompt_tokens = c->prompt, .response_mean_tokens = c->mean,
        .response_cv = c->cv, .response_max_tokens = c->max,
        .concurrency_max = SLOTS, .part_tokens = c->part,
    };
    struct rollout_plan plan;
    double law = 0, mean = 0, run[RUNS_MAX];

    rollout_plan_init(&plan, &shape, &gang);
    for (int k = 0; k < runs; k++) {
        law += rollout_draw(&plan, (k + 0.5) / runs).total_s / runs;
        run[k] = rollout_steps_s(&shape, &gang, (uint64_t)k + 1);
        mean += run[k] / runs;
    }
    qsort(run, (size_t)runs, sizeof *run, by_value);
    double p95 = run[(int)(0.95 * runs)];
    double law_p95 = rollout_draw(&plan, 0.95).total_s;
    print_message("| %s | %.0f | %.1f s | %.1f s | %+.1f%% | %+.1f%% |\n",
                  c->what, c->responses, law, mean, (law / mean - 1) * 100,
                  (law_p95 / p95 - 1) * 100);
    if (fabs(law / mean - 1) > c->mean_error ||
        fabs(law_p95 / p95 - 1) > c->p95_error)
        fail_msg("%s is further off than stated", c->what);
}

static void the_law_agrees_with_every_response_simulated(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct catalogue *catalogue = catalogue_load(arena, NULL, 0, &err);

    (void)state;
    assert_non_null(catalogue);
    for (size_t i = 0; i < CONFIGS; i++)
        compare(&configs[i], catalogue);
    arena_free(arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_agrees_with_every_response_simulated),
    };

    if (argc == 2)
        runs = atoi(argv[1]);
    if (runs < 1 || runs > RUNS_MAX)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
