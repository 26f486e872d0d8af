/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rollout_rest_test.c - what is left of a rollout that stops early, and what a rollout takes where
 * it can be worked out: responses of one length.  Moments of lengths, against sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "models/laws/decode.h"
#include "models/laws/rollout.h"
#include "models/laws/rollout_lengths.h"
#include "models/serving/rollout_steps.h"
#include "tests/aid/law_aids.h"

static struct rollout_shape shape_of(const struct law_aids *aids, double cv)
{
    return (struct rollout_shape){
        .llm = catalogue_llm(aids->catalogue, "qwen2.5-7b"), .precision = PRECISION_BF16,
        .tp = 1, .responses = 1000, .responses_per_prompt = 8, .prompt_tokens = 512,
        .response_mean_tokens = 1000, .response_cv = cv, .response_max_tokens = 8192,
        .concurrency_max = 32,
    };
}

/* While prompts wait, responses end at an even rate: of `queued` that waited at the beginning
 * the part of that time that has passed is done. */
static void responses_end_evenly_while_prompts_wait(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "a100-80", 8, 1, 0.0);
    struct rollout_shape shape = shape_of(&aids, 1.0);
    struct rollout_plan plan;

    (void)state;
    rollout_plan_init(&plan, &shape, &gang);
    double slots = 8.0 * 32.0;
    assert_true(plan.slots == slots && plan.steady_s > 0.0);
    for (int k = 0; k <= 10; k++) {
        double at_s = plan.prefill_s + plan.steady_s * k / 10.0 * 0.999999;
        struct rollout_shape rest = rollout_rest(&shape, &gang, at_s);
        double left = 1000.0 - (1000.0 - slots) * k / 10.0 * 0.999999;
        assert_true(law_error(rest.responses, left) < 1e-9);
        assert_true(rest.response_mean_tokens == shape.response_mean_tokens);
    }
    /* Before the prompts are read, nothing is done. */
    assert_true(rollout_rest(&shape, &gang, plan.prefill_s * 0.99).responses == 1000.0);
    law_aids_free(&aids);
}

/* Row i of a plan is at the i-th square: x, and the share of lengths above it, which falls from
 * all.  In the last row that share is just before the cut. */
static void shares_of_a_plan_are_those_of_the_lengths(void **state)
{
    static const double cv[] = { 0.0, 0.3, 1.0, 3.0 };
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "a100-80", 8, 1, 0.0);

    (void)state;
    for (size_t k = 0; k < sizeof cv / sizeof cv[0]; k++) {
        struct rollout_shape shape = shape_of(&aids, cv[k]);
        struct rollout_plan plan;
        /* So that a first row may be short of all: lengths of a few tokens. */
        shape.response_mean_tokens = k % 2 ? 1000.0 : 5.0;
        rollout_plan_init(&plan, &shape, &gang);
        assert_true(plan.fresh[0] == 1.0 && plan.alive[0] == 1.0);
        for (int i = 1; i <= ROLLOUT_GRID; i++) {
            double x = plan.lengths.max_tokens * i * i / (ROLLOUT_GRID * ROLLOUT_GRID);
            double at = i < ROLLOUT_GRID ? x : x * (1.0 - 1e-9);
            assert_true(law_error(plan.x_tokens[i], x) < 1e-12);
            assert_true(fabs(plan.fresh[i] - rollout_lengths_above(&plan.lengths, at)) < 1e-9);
            assert_true(plan.fresh[i] <= plan.fresh[i - 1] && plan.alive[i] <= plan.alive[i - 1]);
        }
    }
    law_aids_free(&aids);
}

/* Replicas that get as many responses of one length each work side by side: a gang of several
 * replicas takes as long as one replica with its part of the responses. */
static void replicas_of_a_gang_work_side_by_side(void **state)
{
    static const uint32_t tp[] = { 1, 2, 4 };
    struct law_aids aids = law_aids_new();

    (void)state;
    for (int k = 0; k < 3; k++)
        for (uint32_t replicas = 2; replicas * tp[k] <= 8; replicas *= 2) {
            struct gang alone = law_gang(&aids, "a100-80", tp[k], 1, 0.0);
            struct gang all = law_gang(&aids, "a100-80", replicas * tp[k], 1, 0.0);
            struct rollout_shape shape = shape_of(&aids, 0.0);
            shape.tp = tp[k];
            shape.responses_per_prompt = 1;
            shape.response_mean_tokens = 100;
            shape.responses = 40;
            double one_s = rollout_steps_s(&shape, &alone, 1);
            shape.responses = 40 * replicas;
            double all_s = rollout_steps_s(&shape, &all, 1);
            if (!(one_s > 0.0) || law_error(all_s, one_s) > 1e-9)
                fail_msg("tp %u, %u replicas: %g s, one %g s", tp[k], replicas, all_s, one_s);
        }
    law_aids_free(&aids);
}

/* In the drain what is left is longer than what was reached: mean and second moment of the rest
 * are those of the lengths above it, by sums over a fine grid of the lognormal law. */
static void the_rest_is_as_long_as_what_is_beyond_says(void **state)
{
    struct law_aids aids = law_aids_new();
    struct gang gang = law_gang(&aids, "a100-80", 8, 1, 0.0);
    struct rollout_shape shape = shape_of(&aids, 0.8);
    struct rollout_plan plan;

    (void)state;
    shape.responses = 256.0;            /* all of them in a slot at once */
    rollout_plan_init(&plan, &shape, &gang);
    double sd = sqrt(log(1.0 + 0.8 * 0.8)), mean = log(1000.0) - sd * sd / 2.0;
    for (int row = 8; row <= 40; row += 8) {
        struct rollout_shape rest = rollout_rest(&shape, &gang, plan.prefill_s + plan.steady_s +
                                                 plan.drain_s[row] * (1.0 + 1e-9));
        double from = plan.x_tokens[row], above = 0.0, sum = 0.0, square = 0.0;
        for (double x = from + 0.5; x < 8192.0; x += 1.0) {
            double z = (log(x) - mean) / sd, p = exp(-z * z / 2.0) / x;
            above += p;
            sum += p * x;
            square += p * x * x;
        }
        double tail = sqrt(acos(-1.0) / 2.0) * sd * erfc((log(8192.0) - mean) / sd / sqrt(2.0));
        above += tail;
        sum += tail * 8192.0;
        square += tail * 8192.0 * 8192.0;
        double m = sum / above, cv = sqrt(square / above - m * m) / m;
        if (law_error(rest.response_mean_tokens, m) > 0.02 ||
            fabs(rest.response_cv - cv) > 0.02 + 0.1 * cv)
            fail_msg("row %d: mean %g, cv %g; expected %g, %g", row,
                     rest.response_mean_tokens, rest.response_cv, m, cv);
        assert_true(rest.responses < 256.0 && rest.responses >= 1.0);
    }
    law_aids_free(&aids);
}

/* P(a lognormal length of this mean, cut at 8192 tokens, is more than x). */
static double survival(double mean, double cv, double x)
{
    double sd = sqrt(log(1.0 + cv * cv));

    if (x >= 8192.0)
        return 0.0;
    return sd > 0.0 ? erfc((log(x / mean) + sd * sd / 2.0) / sd / sqrt(2.0)) / 2.0 : x < mean;
}

/* The moments of lengths in parts of `part` tokens (0: whole) are sums of their survival over a
 * fine grid. */
static void check_lengths(double mean, double cv, double part)
{
    struct rollout_lengths lengths = rollout_lengths(mean, cv, 8192.0, part);
    double longest = part > 0.0 ? part : 8192.0, parts = 0.0, sum = 0.0, square = 0.0, half = 0.0;

    for (double from = 0.0; from < 8192.0; from += longest) {
        parts += from > 0.0 ? survival(mean, cv, from) : 1.0;
        for (double x = 0.125; x < longest; x += 0.25) {
            double above = from + x < 8192.0 ? 0.25 * survival(mean, cv, from + x) : 0.0;
            sum += above;
            half += x < longest / 2.0 ? above : 0.0;
            square += 2.0 * x * above;
        }
    }
    assert_true(law_error(lengths.parts, parts) < 1e-9);
    assert_true(law_error(rollout_lengths_mean(&lengths, longest), sum / parts) < 1e-3);
    assert_true(law_error(rollout_lengths_mean(&lengths, 2.0 * longest), sum / parts) < 1e-3);
    assert_true(law_error(rollout_lengths_mean(&lengths, longest / 2.0), half / parts) < 1e-3);
    assert_true(law_error(rollout_lengths_square(&lengths), square / parts) <
                (cv > 0.0 ? 1e-6 : 1e-12));
    assert_true(rollout_lengths_mean(&lengths, 0.0) == 0.0);
    assert_true(rollout_lengths_above(&lengths, longest) == 0.0);
    assert_true(rollout_lengths_above(&lengths, 0.0) == 1.0);
}

/* Of one length by hand: 1000 tokens each, whole, cut at 600, in parts of 400, 400 and 200 tokens,
 * before which 0, 400 and 800 were made, in one part that is longer, or in 1000 of one token. */
static void lengths_have_the_moments_of_their_law(void **state)
{
    static const double cv[] = { 0.0, 0.3, 1.0, 2.5 }, part[] = { 0.0, 400.0, 3000.0, 9000.0 };

    (void)state;
    for (size_t c = 0; c < 4; c++)
        for (size_t p = 0; p < 4; p++) {
            check_lengths(1000.0, cv[c], part[p]);
            check_lengths(30000.0, cv[c], part[p]);
        }
    struct rollout_lengths one = rollout_lengths(1000.0, 0.0, 8192.0, 0.0);
    assert_true(law_error(rollout_lengths_square(&one), 1e6) < 1e-12);
    one = rollout_lengths(1000.0, 0.0, 600.0, 0.0);
    assert_true(law_error(rollout_lengths_square(&one), 36e4) < 1e-12);
    one = rollout_lengths(1000.0, 0.0, 8192.0, 400.0);
    assert_true(one.parts == 3.0);
    assert_true(law_error(one.carried_tokens, 400.0) < 1e-12);
    assert_true(law_error(rollout_lengths_square(&one), (16e4 + 16e4 + 4e4) / 3.0) < 1e-12);
    one = rollout_lengths(1000.0, 0.0, 8192.0, 3000.0);
    assert_true(law_error(rollout_lengths_square(&one), 1e6) < 1e-12);
    one = rollout_lengths(1000.0, 0.0, 8192.0, 1.0);
    assert_true(law_error(rollout_lengths_square(&one), 1.0) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_a_plan_are_those_of_the_lengths),
        cmocka_unit_test(replicas_of_a_gang_work_side_by_side),
        cmocka_unit_test(responses_end_evenly_while_prompts_wait),
        cmocka_unit_test(the_rest_is_as_long_as_what_is_beyond_says),
        cmocka_unit_test(lengths_have_the_moments_of_their_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
