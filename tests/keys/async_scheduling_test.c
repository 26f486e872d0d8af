/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * async_scheduling_test.c - engines whose host works ahead of the GPU: the key of rollouts,
 * batches and services, and what a step saves, by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "models/jobs/job.h"
#include "models/laws/phase.h"
#include "models/laws/rollout.h"
#include "models/serving/serve.h"
#include "tests/aid/law_aids.h"
#include "tests/aid/workload_aid.h"
#include "workloads/requests/services.h"

/* The first rollout of a mix of one entry; NULL: it has none. */
static const struct rollout_shape *rollout_of(struct aid *aid, const char *entry)
{
    char text[1024];

    snprintf(text, sizeof text, "arrival: {process: all_at_once}\njobs: 1\nmix:\n  - {%s}\n",
             entry);
    const struct workload_spec *spec = aid_workload(aid, "w.yaml", text);
    if (spec == NULL)
        fail_msg("%s", aid_message(aid));
    const struct job_form *form = workload_form(spec, 0);
    for (uint32_t p = 0; p < form->phase_count; p++)
        if (phase_law_usual(&form->phase[p])->kind == LAW_ROLLOUT)
            return &phase_law_usual(&form->phase[p])->rollout;
    return NULL;
}

#define GRPO "recipe: grpo, model: qwen2.5-7b, prompts: 64, prompt_tokens: 300, steps: 6, " \
    "response: {mean: 800, cv: 1, max: 4096}, train: {gpus: 8}, "
#define INFER "recipe: batch-infer, model: qwen2.5-7b, prompts: 64, prompt_tokens: 300, " \
    "steps: 6, response: {mean: 200, cv: 1, max: 512}, "

static void jobs_say_whether_their_host_works_ahead(void **state)
{
    static const struct { const char *entry; bool ahead; } cases[] = {
        { GRPO "rollout: {gpus: 8}", false },
        { GRPO "rollout: {gpus: 8, async_scheduling: true}", true },
        { GRPO "rollout: {gpus: 8, async_scheduling: false}", false },
        { GRPO "layout: colocated, rollout: {async_scheduling: true}", true },
        { INFER "infer: {gpus: 4}", false },
        { INFER "infer: {gpus: 4, async_scheduling: true}", true },
    };
    struct aid aid;

    (void)state;
    aid_open(&aid);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(rollout_of(&aid, cases[i].entry)->ahead, cases[i].ahead);
    aid_close(&aid);
}

#define SERVICE "services: [{name: s, model: llama-3.1-8b, gpu: {tp: 1%s}, requests: {arrival: " \
    "{process: poisson, rate: 1/s}, prompt: 100, output: 50, for: 1min}%s}]\n"

/* A step of 10 responses takes 2.2 ms + 10 x 20 us less, of single requests and of a mass. */
static void a_step_of_a_service_is_shorter_by_its_hosts_part(void **state)
{
    static const char *const kinds[] = { "", ", aggregate: 1s" };
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "h100", 1, 1, 0.0);
    struct aid aid;

    (void)state;
    aid_open(&aid);
    for (size_t k = 0; k < 2; k++) {
        double step_s[2];
        for (int said = 0; said < 2; said++) {
            char text[512];

            snprintf(text, sizeof text, SERVICE, said ? ", async_scheduling: true" : "",
                     kinds[k]);
            const struct workload_spec *spec = aid_workload(&aid, "s.yaml", text);
            if (spec == NULL)
                fail_msg("%s", aid_message(&aid));
            const struct service_entry *entry = workload_service(spec, 0);
            assert_int_equal(entry->ahead_said, said);
            step_s[said] = serve_step_s(&entry->spec.side[SERVE_GPU].law, &gang, 10, 500);
        }
        assert_true(fabs(step_s[0] - step_s[1] - 2.4e-3) < 1e-12);
    }
    aid_close(&aid);
    law_aids_free(&aids);
}

/* One response at a time: each of the steps of a rollout is shorter by 2.22 ms. */
static void a_rollout_saves_it_in_each_step(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "h100", 1, 1, 0.0);
    struct rollout_shape shape = {
        .llm = catalogue_llm(aids.catalogue, "llama-3.1-8b"), .precision = PRECISION_BF16,
        .tp = 1, .responses = 1, .responses_per_prompt = 1, .prompt_tokens = 100,
        .response_mean_tokens = 1000, .response_cv = 0, .response_max_tokens = 1000 };
    double waits_s = rollout_time(&shape, &gang, 0.5).total_s;

    (void)state;
    shape.ahead = true;
    double ahead_s = rollout_time(&shape, &gang, 0.5).total_s;
    assert_true(fabs(waits_s - ahead_s - 2.22) < 0.01);
    law_aids_free(&aids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_say_whether_their_host_works_ahead),
        cmocka_unit_test(a_step_of_a_service_is_shorter_by_its_hosts_part),
        cmocka_unit_test(a_rollout_saves_it_in_each_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
