/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_rows_test.c - rows of engines under load: which requests come, to how many replicas
 * of which room.  What a request takes alone is summed up here, step by step, by the laws.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "experiments/calibrate/calibrate.h"
#include "models/serving/serve.h"
#include "tests/aid/law_aids.h"
#include "tests/aid/rows.h"

#define HEAD "id,suite,model,gpu,tp,dp,precision,batch_or_concurrency,qps,isl,osl,ttft_ms," \
             "tpot_ms,solid,notes\n"

static int open_fixture(void **state)
{
    int why = rows_set_up(state);

    assert_int_equal(mkdir(scratch_path(&((struct rows *)*state)->scratch, "requests"), 0777), 0);
    return why;
}

/* Returns the one sample of a suite for a row, an 8B on an RTX 4090. */
static struct calibrate_sample predict(struct rows *f, const char *suite, const char *dp,
                                       const char *notes)
{
    char text[1024];

    snprintf(text, sizeof text, HEAD "R1,LLMServingSim-bench,Llama-3.1-8B,RTX 4090,1,%s,bf16,"
             "2,10,100,3,50,20,yes,%s\n", dp, notes);
    rows_read(f, suite, text);
    assert_int_equal(f->samples.count, 1);
    return f->samples.item[0];
}

/* The engine of the row, whose one GPU it is. */
static struct serve_law engine_of(const struct rows *f)
{
    return (struct serve_law){
        .kind = SERVE_GENERATE, .llm = catalogue_llm(f->aids.catalogue, "llama-3.1-8b"),
        .precision = PRECISION_BF16, .tp = 1,
    };
}

/* Seconds of a request alone: its prompt, then a step for each token but the first. */
static double time_alone(const struct rows *f, double prompt, uint32_t output, double *first_s)
{
    struct serve_law law = engine_of(f);
    struct gang gang = law_gang(&f->aids, "rtx-4090", 1, 1, 0);
    double s = serve_prefill_s(&law, &gang, 1, prompt);

    *first_s = s;
    for (uint32_t made = 1; made < output; made++)
        s += serve_step_s(&law, &gang, 1, prompt + made);
    return s;
}

/* Three tokens of a prompt of 100, and five of one of 200 that comes when the first is
 * answered.  The row says 10 a second of 100 tokens each, which nobody draws. */
static void recorded_requests_come_as_they_did(void **state)
{
    struct rows *f = *state;
    double first_a, first_b, a = time_alone(f, 100, 3, &first_a);
    double b = time_alone(f, 200, 5, &first_b);
    struct calibrate_sample s;

    scratch_write(&f->scratch, "requests/R1.csv", "arrival_s,prompt_tokens,output_tokens\n"
                  "1.0,100,3\n50.0,200,5\n");
    s = predict(f, "replay-latency", "1", "");
    assert_null(s.refused);
    assert_true(fabs(s.measured - (0.050 + 2 * 0.020)) < 1e-12);
    assert_true(law_error(s.predicted, (a + b) / 2) < 1e-6);
    s = predict(f, "replay-TPOT", "1", "");
    assert_true(fabs(s.measured - 0.020) < 1e-12);
    assert_true(law_error(s.predicted, ((a - first_a) / 2 + (b - first_b) / 4) / 2) < 1e-6);
}

/* Two at once: on two replicas each is alone; on one replica with room for one the second
 * waits for the first. */
static void replicas_and_room_are_those_of_the_row(void **state)
{
    struct rows *f = *state;
    double first, alone = time_alone(f, 100, 3, &first);

    scratch_write(&f->scratch, "requests/R1.csv", "arrival_s,prompt_tokens,output_tokens\n"
                  "1.0,100,3\n1.0,100,3\n");
    assert_true(law_error(predict(f, "replay-latency", "2", "").predicted, alone) < 1e-6);
    /* 103 tokens are seven blocks of 16. */
    assert_true(law_error(predict(f, "replay-latency", "1", "KV room reported by the engine: 128 "
                                  "tokens").predicted, 1.5 * alone) < 1e-6);
    assert_true(law_error(predict(f, "replay-latency", "1", "rows; max_num_seqs 1; x").predicted,
                          1.5 * alone) < 1e-6);
    assert_true(predict(f, "replay-latency", "1", "").predicted < 1.4 * alone);
    assert_true(predict(f, "replay-latency", "1", "my_max_num_seqs 1").predicted < 1.4 * alone);
}

/* A file that cannot be read refuses the row; without a file requests are drawn, the same
 * for each reading. */
static void requests_that_cannot_be_read_refuse_the_row(void **state)
{
    static const char *const bad[] = {
        "arrival_s,prompt_tokens\n1,100\n",
        "arrival_s,prompt_tokens,output_tokens\n1,many,3\n",
        "arrival_s,prompt_tokens,output_tokens\n1,100,0\n",
        "arrival_s,prompt_tokens,output_tokens\n-1,100,3\n",
        "arrival_s,prompt_tokens,output_tokens\n1,100,3\n2,100\n",
    };
    struct rows *f = *state;
    double drawn = predict(f, "replay-latency", "1", "").predicted;

    assert_true(drawn > 0 && predict(f, "replay-latency", "1", "").predicted == drawn);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        scratch_write(&f->scratch, "requests/R1.csv", bad[i]);
        assert_string_equal(predict(f, "replay-latency", "1", "").refused,
                            "its recorded requests cannot be read");
    }
}

/* 0.9 of 24 GiB without 8.03e9 weights of two bytes, and 3.5 GB: 1,732 blocks of 16 tokens of
 * 32 layers, 8 heads of 128, keys and values of two bytes. */
static void room_of_the_cache_is_what_is_said_or_what_memory_leaves(void **state)
{
    struct rows *f = *state;
    struct serve_law law = engine_of(f);
    struct gang gang = law_gang(&f->aids, "rtx-4090", 1, 1, 0);
    double block = 16.0 * 32 * 8 * 128 * 2 * 2;

    assert_true(serve_blocks_max(&law, &gang, 0) ==
                floor((0.9 * 24 * 1073741824.0 - 2 * law.llm->params - 3.5e9) / block));
    law.kv_tokens = 41408;
    assert_true(serve_blocks_max(&law, &gang, 0) == 2588);
    law.kv_tokens = 31;
    assert_true(serve_blocks_max(&law, &gang, 0) == 1);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, open_fixture, rows_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(recorded_requests_come_as_they_did),
        TEST(replicas_and_room_are_those_of_the_row),
        TEST(requests_that_cannot_be_read_refuse_the_row),
        TEST(room_of_the_cache_is_what_is_said_or_what_memory_leaves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
