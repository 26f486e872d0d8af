/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * window_test.c - layers that attend to a window of tokens alone: what they attend to, keep and
 * compute, by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/laws/compute.h"
#include "models/laws/decode.h"
#include "models/laws/memory.h"
#include "models/serving/serve.h"
#include "tests/aid/law_aids.h"

static void is(double found, double expected)
{
    assert_true(fabs(found - expected) <= 1e-12 * expected);
}

/* Half of 36 layers attend to 128 tokens: of 1,000 tokens (1,000 + 128) / 2. */
static void half_of_the_layers_attend_to_a_window(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct llm *oss = catalogue_llm(aids.catalogue, "gpt-oss-120b");

    (void)state;
    assert_true(oss->window == 128 && oss->window_layers == 18);
    is(compute_attended_tokens(oss, 1000), 564);
    is(compute_attended_tokens(oss, 129), 128.5);
    is(compute_attended_tokens(oss, 128), 128);
    is(compute_attended_tokens(oss, 5), 5);
    /* A sequence of 512: 256 without a window; with it 128 tokens see 64 on average, the other
     * 384 see 128, so all see 112.  The mean of both is 184. */
    is(compute_causal_tokens(oss, 512), 184);
    is(compute_causal_tokens(oss, 128), 64);
    is(compute_causal_tokens(oss, 100), 50);
    law_aids_free(&aids);
}

/* Without window_layers all layers have it, without a window none. */
static void all_layers_or_none(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct llm *first = catalogue_llm(aids.catalogue, "mistral-7b-v0.1");
    const struct llm *third = catalogue_llm(aids.catalogue, "mistral-7b");
    const struct llm *gemma = catalogue_llm(aids.catalogue, "gemma-3-27b");

    (void)state;
    assert_true(first->window == 4096 && first->window_layers == 32);
    assert_true(third->window == 0 && third->window_layers == 0);
    is(compute_attended_tokens(first, 32768), 4096);
    is(compute_attended_tokens(third, 32768), 32768);
    /* 10 of 62 layers see all: (10 x 32,768 + 52 x 1,024) / 62. */
    is(compute_attended_tokens(gemma, 32768), 380928.0 / 62.0);
    law_aids_free(&aids);
}

/* gpt-oss keeps 2 x 8 x 64 elements of 16 bits a token and layer, 2,048 bytes.  Of 8,192 tokens: 18
 * layers x 8,192 and 18 x 128, in all 149,760 tokens of a layer, 306.7 MB; without a window twice
 * as much, but for 1.5%. */
static void the_cache_keeps_the_window(void **state)
{
    struct law_aids aids = law_aids_new();
    const struct llm *oss = catalogue_llm(aids.catalogue, "gpt-oss-120b");
    struct llm whole = *oss;
    double bytes = 2048.0 * 149760.0, weights = 116.83e9 * precision_weight_bytes(PRECISION_FP4);
    double room = 0.9 * 80e9 - weights - 3.5e9;

    (void)state;
    whole.window = whole.window_layers = 0;
    is(memory_decode(oss, PRECISION_FP4, 1, 1, 8192).kv, bytes);
    is(memory_decode(&whole, PRECISION_FP4, 1, 1, 8192).kv, 2048.0 * 36 * 8192);
    assert_true(memory_decode_batch_max(oss, PRECISION_FP4, 1, 8192, 80e9) ==
                floor(room / bytes));
    law_aids_free(&aids);
}

/* A step reads the cache: 32 responses of 8,192 tokens, 18 layers x (8,192 - 128) tokens x 2,048
 * bytes less of each, at 0.95 of 3.35 TB/s. */
static void a_step_reads_the_window(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "h100", 1, 1, 0.0);
    const struct llm *oss = catalogue_llm(aids.catalogue, "gpt-oss-120b");
    struct llm whole = *oss;
    struct decode_replica r = { oss, PRECISION_FP4, &gang, 1, DECODE_GRAPHS, false }, w = r;
    double less_s = 32.0 * 18 * 8064 * 2048 / (0.95 * gang.gpu->memory_bps);

    (void)state;
    whole.window = whole.window_layers = 0;
    w.llm = &whole;
    double found_s = decode_step_s(&w, 32, 8192) - decode_step_s(&r, 32, 8192);
    assert_true(fabs(found_s - less_s) < 1e-9 * less_s);
    law_aids_free(&aids);
}

/* Blocks have 16 tokens of 36 layers.  128 tokens take 8; 1,000 take (1,000 + 128) / 2 / 16 =
 * 35.25, so 36; 8,192 take 4,160 / 16 = 260. */
static void a_context_takes_fewer_blocks(void **state)
{
    struct law_aids aids = law_aids_new();
    struct serve_law law = { .kind = SERVE_GENERATE, .precision = PRECISION_FP4, .tp = 1,
                             .llm = catalogue_llm(aids.catalogue, "gpt-oss-120b") };

    (void)state;
    assert_int_equal(serve_blocks(&law, 0), 0);
    assert_int_equal(serve_blocks(&law, 1), 1);
    assert_int_equal(serve_blocks(&law, 128), 8);
    assert_int_equal(serve_blocks(&law, 1000), 36);
    assert_int_equal(serve_blocks(&law, 8192), 260);
    law.llm = catalogue_llm(aids.catalogue, "llama-3-8b");
    assert_int_equal(serve_blocks(&law, 8192), 512);
    assert_int_equal(serve_blocks(&law, 8193), 513);
    law_aids_free(&aids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_the_layers_attend_to_a_window),
        cmocka_unit_test(all_layers_or_none),
        cmocka_unit_test(the_cache_keeps_the_window),
        cmocka_unit_test(a_step_reads_the_window),
        cmocka_unit_test(a_context_takes_fewer_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
