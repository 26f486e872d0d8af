/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rollout_plan_test.c - plans of rollouts, drawn by a seed, against a plain second way to each of
 * their figures: one loop for one column, and a walk along the rows where the product halves.
 * The laws of lengths, renewals and steps have tests of their own and are taken as they are.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "models/laws/decode.h"
#include "models/laws/memory.h"
#include "models/laws/renewal.h"
#include "models/laws/rollout.h"
#include "sim/base/rng.h"
#include "tests/aid/law_aids.h"

#define G ROLLOUT_GRID
#define CASES 60

/* A rollout worked out in plain steps. */
struct plain {
    struct rollout_lengths lengths;
    double replicas, responses, mean, square, cv2;
    double share;               /* slots of a replica */
    double since, age, steady_age;
    bool exact;
    struct renewal renewal;
    double x[G + 1], alive[G + 1], step_s[G + 1], drain_s[G + 1], slot_s[G + 1];
    double replica_s[G + 1];
};

static double of_lengths(const void *self, double x)
{
    return rollout_lengths_above(self, x);
}

static double step_s(const struct plain *p, const struct rollout_shape *shape,
                     const struct gang *gang, double batch, double x)
{
    struct decode_replica replica = { .llm = shape->llm, .precision = shape->precision,
                                      .gang = gang, .tp = shape->tp, .engine = DECODE_GRAPHS,
                                      .ahead = shape->ahead };
    double age = p->age + x > p->lengths.max_tokens ? p->lengths.max_tokens : p->age + x;

    return decode_step_s(&replica, batch < 1 ? 1 : batch,
                         shape->prompt_tokens + p->lengths.carried_tokens + age);
}

/* Slots: memory, then the limit of the engine, then what there is to do; one at least. */
static double plain_share(const struct plain *p, const struct rollout_shape *shape,
                          const struct gang *gang)
{
    double context = shape->prompt_tokens + p->lengths.carried_tokens + p->mean;
    double share = memory_decode_batch_max(shape->llm, shape->precision, shape->tp, context,
                                           gang->gpu->memory_bytes - shape->reserved_bytes);

    if (shape->concurrency_max > 0 && share > shape->concurrency_max)
        share = shape->concurrency_max;
    if (share > p->responses / p->replicas)
        share = p->responses / p->replicas;
    return share < 1 ? 1 : share;
}

/* When the queue is empty, and how old is then what is at work: Cox's limits where six or more
 * wait behind each slot, else his equation. */
static void plain_refill(struct plain *p)
{
    double queued = (p->responses / p->replicas - p->share) / p->share;

    queued = queued < 0 ? 0 : queued;
    p->exact = queued < 6;
    if (!p->exact) {
        p->since = p->mean * queued + p->mean * (1 - p->cv2) / 2;
        p->age = p->steady_age = p->square / p->mean / 2;
        return;
    }
    renewal_init(&p->renewal, of_lengths, &p->lengths,
                 p->mean * (queued + 1 + (p->cv2 < 1 ? 1 - p->cv2 : 0)));
    if (queued > 0)
        p->since = renewal_time(&p->renewal, queued);
    p->age = renewal_age(&p->renewal, p->since);
    if (p->since > 0)
        p->steady_age = renewal_mean_age(&p->renewal, p->since);
}

static void plain_rows(struct plain *p, const struct rollout_shape *shape,
                       const struct gang *gang)
{
    double active[G + 1];

    for (int i = 0; i <= G; i++) {
        p->x[i] = p->lengths.max_tokens * i * i / G / G;
        double at = i == G ? p->x[i] * (1 - 1e-9) : p->x[i];
        if (p->exact)
            p->alive[i] = renewal_alive(&p->renewal, p->since, at);
        else
            p->alive[i] = fmax(0, (p->mean - rollout_lengths_mean(&p->lengths, at)) / p->mean);
        if (i == 0)
            p->alive[i] = 1;
        active[i] = 1 - pow(1 - p->alive[i], p->share);
        p->step_s[i] = step_s(p, shape, gang, p->alive[i] * p->share, p->x[i]);
    }
    for (int i = 1; i <= G; i++) {
        double s = (p->x[i] - p->x[i - 1]) * (p->step_s[i - 1] + p->step_s[i]) / 2;
        p->drain_s[i] = p->drain_s[i - 1] + s;
        p->slot_s[i] = p->slot_s[i - 1] + s * (p->alive[i - 1] + p->alive[i]) / 2;
        p->replica_s[i] = p->replica_s[i - 1] + s * (active[i - 1] + active[i]) / 2;
    }
}

static struct plain plain_of(const struct rollout_shape *shape, const struct gang *gang)
{
    struct plain p = { .lengths = rollout_lengths(shape->response_mean_tokens,
        shape->response_cv, shape->response_max_tokens, shape->part_tokens) };

    p.replicas = floor((double)gang->gpus / shape->tp);
    if (p.replicas > shape->responses)
        p.replicas = floor(shape->responses);
    p.responses = shape->responses * p.lengths.parts;
    p.mean = rollout_lengths_mean(&p.lengths, p.lengths.max_tokens);
    p.square = rollout_lengths_square(&p.lengths);
    p.cv2 = (p.square - p.mean * p.mean) / (p.mean * p.mean);
    p.share = plain_share(&p, shape, gang);
    plain_refill(&p);
    plain_rows(&p, shape, gang);
    return p;
}

/* Prompts: new ones, one for each group of responses; parts that go on, each with what was made
 * before, which is the mean over all parts but the first.  What fills the slots at the beginning
 * is paid in full, the rest beside decoding. */
static double plain_prompts_s(const struct plain *p, const struct rollout_shape *shape,
                              const struct gang *gang)
{
    struct decode_replica replica = { .llm = shape->llm, .precision = shape->precision,
                                      .gang = gang, .tp = shape->tp, .engine = DECODE_GRAPHS,
                                      .ahead = shape->ahead };
    double all = p->responses / p->replicas, fresh = all / p->lengths.parts;
    double s = decode_prefill_s(&replica, fresh / shape->responses_per_prompt,
                                shape->prompt_tokens);

    if (all > fresh)
        s += decode_prefill_s(&replica, all - fresh, shape->prompt_tokens +
                              p->lengths.carried_tokens * all / (all - fresh));
    double first = p->share < all ? p->share / all : 1;
    return s * first + s * (1 - first) * 0.78;
}

static void is_near(const char *what, int at, double found, double expected, double within)
{
    if (!(fabs(found - expected) <= within * fabs(expected) + (within > 0 ? 1e-13 : 0)))
        fail_msg("%s %d: %.12g, expected %.12g", what, at, found, expected);
}

/* Where a column that falls comes down to q: the row before, and the fraction to the next, along
 * a straight logarithm. */
static double plain_cross(const double *falls, const double *value, double q)
{
    int i = 0;

    if (q <= falls[G])
        return value[G];
    while (i < G - 1 && falls[i + 1] > q)
        i++;
    double a = falls[i], b = falls[i + 1], part = 0;
    if (b > 0 && a > b)
        part = log(q / a) / log(b / a);
    else if (a > b)
        part = (a - q) / (a - b);
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return value[i] * (1 - part) + value[i + 1] * part;
}

/* 90% done: where the tenth that is left, over all slots, is what is still at work; while more
 * are left than slots, so much before the drain as the queue is then long. */
static double plain_tail_from(const struct plain *p, double steady_s)
{
    double slots = p->share * p->replicas, left = p->responses / 10;

    if (left >= slots)
        return p->responses > slots ? -steady_s * (left - slots) / (p->responses - slots) : 0;
    return plain_cross(p->alive, p->drain_s, left / slots);
}

/* How the time of a replica scatters: the root of its number of responses times that of their
 * lengths, times what one more response at once makes a step longer. */
static double plain_sd_s(const struct plain *p, const struct rollout_shape *shape,
                         const struct gang *gang)
{
    if (p->share < 2)
        return 0;
    double slope = (step_s(p, shape, gang, p->share, 0) -
                    step_s(p, shape, gang, p->share / 2, 0)) / (p->share / 2);
    double variance = p->square - p->mean * p->mean;

    return slope * sqrt((variance > 0 ? variance : 0) * p->responses / p->replicas);
}

/* P(all replicas are done by t): of each the longest response ends between two rows, in the
 * middle, or at the end of the drain where it is cut. */
static double plain_done(const struct plain *p, double sd_s, double t)
{
    double sum = 0, before = 0;

    for (int i = 1; i <= G + 1; i++) {
        double now = i > G ? 1 : pow(1 - p->alive[i], p->share);
        double end_s = i > G ? p->drain_s[G] : (p->drain_s[i - 1] + p->drain_s[i]) / 2;
        double by_t = sd_s > 0 ? erfc((end_s - t) / sd_s / sqrt(2)) / 2 : t >= end_s;
        sum += now > before ? (now - before) * by_t : 0;
        before = now;
    }
    return pow(sum, p->replicas);
}

/* The drain time of quantile u, along the plan's own grid of P(all are done). */
static double plain_drain_s(const struct rollout_plan *plan, double u)
{
    int i = 0;

    while (i < ROLLOUT_FINISH_GRID - 1 && plan->finish[i + 1] < u)
        i++;
    double a = plan->finish[i], b = plan->finish[i + 1];
    double part = b > a ? (u - a) / (b - a) : 1;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    double s = plan->finish_from_s +
        (plan->finish_to_s - plan->finish_from_s) * (i + part) / ROLLOUT_FINISH_GRID;
    return s > 0 ? s : 0;
}

static void check_plan(const struct plain *p, const struct rollout_plan *plan,
                       const struct rollout_shape *shape, const struct gang *gang)
{
    double sd_s = plain_sd_s(p, shape, gang);
    int first = 0;

    is_near("replicas", 0, plan->replicas, p->replicas, 0);
    is_near("slots", 0, plan->slots, p->share * p->replicas, 1e-12);
    is_near("responses", 0, plan->responses, p->responses, 1e-12);
    is_near("tokens", 0, plan->tokens, p->responses * p->mean, 1e-12);
    is_near("prefill", 0, plan->prefill_s, plain_prompts_s(p, shape, gang), 1e-9);
    is_near("steady", 0, plan->steady_s,
            p->since * step_s(p, shape, gang, p->share, p->steady_age - p->age), 1e-9);
    for (int i = 0; i <= G; i++) {
        is_near("alive", i, plan->alive[i], p->alive[i], 1e-9);
        is_near("drain", i, plan->drain_s[i], p->drain_s[i], 1e-9);
        is_near("slot", i, plan->slot_s[i], p->slot_s[i], 1e-9);
        is_near("replica", i, plan->replica_s[i], p->replica_s[i], 1e-9);
        if (pow(pow(1 - p->alive[i], p->share), p->replicas) < 1e-6)
            first = i;
    }
    is_near("tail", 0, plan->tail_from_s, plain_tail_from(p, plan->steady_s), 1e-9);
    is_near("from", 0, plan->finish_from_s, p->drain_s[first] - 4 * sd_s, 1e-7);
    is_near("to", 0, plan->finish_to_s, p->drain_s[G] + 4 * sd_s, 1e-7);
    for (int j = 0; sd_s > 0 && j <= ROLLOUT_FINISH_GRID; j++) {
        double t = plan->finish_from_s + (plan->finish_to_s - plan->finish_from_s) * j /
                                             ROLLOUT_FINISH_GRID;
        is_near("finish", j, plan->finish[j], plain_done(p, sd_s, t), 1e-6);
    }
}

static void check_draw(const struct plain *p, const struct rollout_plan *plan, double u)
{
    struct rollout_time t = rollout_draw(plan, u);
    double log_u = log(u > DBL_MIN ? u : DBL_MIN), slots = p->share * p->replicas;
    double drain_s = plain_drain_s(plan, u);
    double all_s = plan->prefill_s + plan->steady_s + drain_s;
    double last = -expm1(log_u / slots);
    double slot_s = fmin(drain_s, plain_cross(p->alive, p->slot_s, last));
    double replica_s = fmin(drain_s, plain_cross(p->alive, p->replica_s, last));

    is_near("total", 0, t.total_s, all_s, 1e-9);
    is_near("prefill", 1, t.prefill_s, plan->prefill_s, 0);
    is_near("decode", 1, t.decode_s, all_s - plan->prefill_s, 1e-9);
    is_near("tail", 1, t.tail_s, fmax(0, drain_s - plan->tail_from_s), 1e-9);
    is_near("tokens", 1, t.tokens, plan->tokens, 0);
    is_near("longest", 1, t.longest_tokens,
            plain_cross(plan->fresh, plan->x_tokens, -expm1(log_u / p->responses)), 1e-6);
    assert_true(fabs(t.tail_idle_fraction - (drain_s - slot_s) / all_s) < 1e-7);
    is_near("busy", 1, t.busy_fraction,
            (plan->prefill_s + 0.52 * (plan->steady_s + replica_s)) / all_s, 1e-7);
}

/* What is left after `at_s`: of the steady part evenly less, of the drain what is still at work,
 * as long as lengths above that row are by a sum over rows. */
static void check_rest(const struct plain *p, const struct rollout_plan *plan,
                       const struct rollout_shape *shape, const struct gang *gang, double at_s)
{
    struct rollout_shape rest = rollout_rest(shape, gang, at_s);
    double in_s = at_s - plan->prefill_s, mean = shape->response_mean_tokens;
    double cv = shape->response_cv, left = p->responses, slots = p->share * p->replicas;

    if (in_s > 0 && in_s < plan->steady_s) {
        left = slots + (p->responses - slots) * (1 - in_s / plan->steady_s);
    } else if (in_s > 0) {
        int row = 0;
        double sum = 0, square = 0;
        for (int i = 1; i <= G; i++)
            row = p->drain_s[i] <= in_s - plan->steady_s ? i : row;
        for (int i = row; i < G; i++) {
            double area = (plan->fresh[i] + plan->fresh[i + 1]) / 2 * (p->x[i + 1] - p->x[i]);
            sum += area;
            square += 2 * area * (p->x[i] + p->x[i + 1]) / 2;
        }
        left = slots * p->alive[row];
        if (sum > 0 && plan->fresh[row] > 0) {
            mean = p->x[row] + sum / plan->fresh[row];
            double moment = p->x[row] * p->x[row] + square / plan->fresh[row];
            cv = sqrt(fmax(0, moment - mean * mean)) / mean;
        }
    }
    if (in_s > 0)
        is_near("left", 1, rest.responses, fmax(1, left / p->lengths.parts), 1e-9);
    else
        assert_true(rest.responses == shape->responses);
    is_near("mean of the rest", 1, rest.response_mean_tokens, mean, 1e-9);
    is_near("cv of the rest", 1, rest.response_cv, cv, 1e-6);
}

static double one_of(struct rng *rng, const double *values, size_t count)
{
    return values[rng_below(rng, count)];
}

static struct rollout_shape draw_shape(struct rng *rng, const struct law_aids *aids)
{
    static const double responses[] = { 1, 3, 8, 40, 256, 1000, 5000 }, each[] = { 1, 4, 16 };
    static const double mean[] = { 8, 300, 2000, 20000 }, cv[] = { 0.2, 0.7, 1, 2 };
    static const double most[] = { 64, 2048, 16384 }, slots[] = { 0, 1, 1.5, 2, 32, 200 };
    static const double part[] = { 0, 0, 0, 500, 1500 };

    return (struct rollout_shape){
        .llm = catalogue_llm(aids->catalogue, "qwen2.5-7b"), .precision = PRECISION_BF16,
        .tp = 1u << rng_below(rng, 3), .responses = one_of(rng, responses, 7),
        .responses_per_prompt = one_of(rng, each, 3),
        .prompt_tokens = 100 + (double)rng_below(rng, 900),
        .response_mean_tokens = one_of(rng, mean, 4), .response_cv = one_of(rng, cv, 4),
        .response_max_tokens = one_of(rng, most, 3), .concurrency_max = one_of(rng, slots, 6),
        .part_tokens = one_of(rng, part, 5),
        .reserved_bytes = rng_below(rng, 2) ? 0 : 20e9,
        .ahead = rng_below(rng, 2) == 0,
    };
}

static void plans_are_those_of_a_plain_way(void **state)
{
    static const double u[] = { 0, 1e-9, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-12 };
    struct law_aids aids = law_aids_new();
    struct rng rng;

    (void)state;
    rng_init(&rng, 11, "rollout", 0);
    for (int k = 0; k < CASES; k++) {
        struct gang gang = law_gang(&aids, "a100-80", 4u << rng_below(&rng, 3), 1, 0.0);
        struct rollout_shape shape = draw_shape(&rng, &aids);
        struct plain p = plain_of(&shape, &gang);
        struct rollout_plan plan;

        rollout_plan_init(&plan, &shape, &gang);
        check_plan(&p, &plan, &shape, &gang);
        for (size_t i = 0; i < sizeof u / sizeof u[0]; i++)
            check_draw(&p, &plan, u[i]);
        for (int i = 0; i <= 12; i++)
            check_rest(&p, &plan, &shape, &gang, 0.999 * plan.prefill_s +
                       (plan.steady_s + plan.drain_s[G]) * i / 10);
        check_rest(&p, &plan, &shape, &gang, plan.prefill_s + plan.steady_s / 3);
    }
    law_aids_free(&aids);
}

/* Few and many responses a slot, one slot and many: the cases are among those above. */
static void the_cases_have_all_kinds(void **state)
{
    struct law_aids aids = law_aids_new();
    struct rng rng;
    int exact = 0, limit = 0, one = 0, parts = 0, waits = 0;

    (void)state;
    rng_init(&rng, 11, "rollout", 0);
    for (int k = 0; k < CASES; k++) {
        struct gang gang = law_gang(&aids, "a100-80", 4u << rng_below(&rng, 3), 1, 0.0);
        struct rollout_shape shape = draw_shape(&rng, &aids);
        struct plain p = plain_of(&shape, &gang);
        exact += p.exact;
        limit += !p.exact;
        one += p.share < 2;
        parts += p.lengths.parts > 1.01;
        waits += p.since > 0;
    }
    if (exact < 10 || limit < 10 || one < 10 || parts < 5 || waits < 20)
        fail_msg("%d exact, %d limits, %d of one slot, %d in parts, %d that wait", exact, limit,
                 one, parts, waits);
    law_aids_free(&aids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_those_of_a_plain_way),
        cmocka_unit_test(the_cases_have_all_kinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
