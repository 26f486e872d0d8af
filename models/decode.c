/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decode.c - generation: prefill, decode steps, and a rollout's long tail.
 *
 * One step of a replica costs the sum of reading weights, reading the KV
 * cache, arithmetic, tensor-parallel collectives and a constant of the
 * engine; this additive form with a KV rate of 0.95 of peak is a fit to 1,048
 * measured configurations (aiconfigurator silicon samples).
 */
#include "models/decode.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "models/catalogue.h"
#include "models/comm.h"
#include "models/compute.h"
#include "models/gang.h"
#include "models/memory.h"

/* KV cache is read at this share of the peak bandwidth (the fit above). */
#define KV_RATE 0.95
/* Host part of one engine step: vLLM 0.7.3 at batch 1 takes 15.0 GB /
 * (0.88 bandwidth) + 3.3 ms over seven GPU types (AccelMark 3ae358aa). */
#define ENGINE_STEP_S 3.3e-3
/* Load of a decoding GPU in terms of power.h: (250 - 63) / (400 - 63) on A100
 * and (380 - 75) / (700 - 75) on H100 (Splitwise 8f99e7d); the mean. */
#define DECODE_LOAD 0.52

/* Bytes of weights that a step reads.  The embedding table is looked up, not
 * streamed; the experts that nobody chose are not read. */
static double step_weight_bytes(const struct llm *llm,
                                enum precision precision, double batch)
{
    double per = precision_weight_bytes(precision);
    double table = (double)llm->vocab * llm->hidden;
    double untied = llm->tied ? 0.0 : table;
    double idle = 0.0;

    if (llm->experts > llm->experts_active && llm->experts_active > 0) {
        double share = (double)llm->experts_active / llm->experts;
        double all = (llm->params - llm->params_active) / (1.0 - share);
        idle = all * pow(1.0 - share, batch);
    }
    return (llm->params - untied - idle) * per;
}

double decode_step_s(const struct llm *llm, enum precision precision,
                     const struct gang *gang, uint32_t tp, double batch,
                     double context_tokens)
{
    assert(llm && gang && gang->gpu && tp > 0 && gang->gpus >= tp);
    assert(batch > 0.0 && context_tokens >= 0.0);
    const struct gpu_type *gpu = gang->gpu;
    double heads = fmin(tp, llm->kv_heads);
    double weight_s = step_weight_bytes(llm, precision, batch) / tp /
                      gpu->memory_bps_sustained;
    double kv_s = batch * context_tokens * memory_kv_bytes_per_token(llm) /
                  heads / (KV_RATE * gpu->memory_bps);
    double math_s = compute_forward_flops(llm, batch, 0.0) / tp /
                    compute_sustained_flops(gpu, precision);
    double comm_s = 0.0;

    if (tp > 1) {
        comm_s = 2.0 * llm->layers *
                 comm_group_s(COMM_ALL_REDUCE, gang, tp,
                              2.0 * batch * llm->hidden);
    }
    return weight_s + kv_s + math_s + comm_s + ENGINE_STEP_S;
}

double decode_prefill_s(const struct llm *llm, enum precision precision,
                        const struct gang *gang, uint32_t tp, double prompts,
                        double prompt_tokens)
{
    assert(llm && gang && gang->gpu && tp > 0 && gang->gpus >= tp);
    assert(prompts >= 0.0 && prompt_tokens >= 0.0);
    double tokens = prompts * prompt_tokens;
    double math_s = compute_forward_flops(llm, tokens, prompt_tokens / 2.0) /
                    tp / compute_sustained_flops(gang->gpu, precision);
    double comm_s = 0.0;

    if (tp > 1) {
        comm_s = 2.0 * llm->layers *
                 comm_group_s(COMM_ALL_REDUCE, gang, tp,
                              2.0 * tokens * llm->hidden);
    }
    return math_s + comm_s;
}

/* Lengths: lognormal(log_mean, log_sd), cut at max_tokens. */

static double normal_cdf(double z)
{
    return 0.5 * erfc(-z * 0.70710678118654752440);
}

static double survival(const struct rollout_plan *plan, double x)
{
    if (x <= 0.0) {
        return 1.0;
    }
    if (x >= plan->max_tokens) {
        return 0.0;
    }
    if (plan->log_sd <= 0.0) {
        return log(x) < plan->log_mean ? 1.0 : 0.0;
    }
    return normal_cdf((plan->log_mean - log(x)) / plan->log_sd);
}

/* E[min(L, x)] = the integral of survival from 0 to x, for x <= max. */
static double mean_below(const struct rollout_plan *plan, double x)
{
    double m = plan->log_mean;
    double s = plan->log_sd;

    if (x <= 0.0) {
        return 0.0;
    }
    x = fmin(x, plan->max_tokens);
    if (s <= 0.0) {
        return fmin(exp(m), x);
    }
    double z = (log(x) - m) / s;

    return exp(m + s * s / 2.0) * normal_cdf(z - s) + x * normal_cdf(-z);
}

/* E[min(L, max)^2], likewise. */
static double mean_square(const struct rollout_plan *plan)
{
    double m = plan->log_mean;
    double s = plan->log_sd;
    double x = plan->max_tokens;

    if (s <= 0.0) {
        double l = fmin(exp(m), x);
        return l * l;
    }
    double z = (log(x) - m) / s;

    return exp(2.0 * m + 2.0 * s * s) * normal_cdf(z - 2.0 * s) +
           x * x * normal_cdf(-z);
}

/* The length that a share `below` of responses does not exceed. */
static double length_quantile(const struct rollout_plan *plan, double below)
{
    double low = 0.0;
    double high = plan->max_tokens;

    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2.0;
        if (1.0 - survival(plan, middle) < below) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

/* Steps until `queued` responses have found a slot, per slot.  A slot that
 * starts fresh completes m(t) responses by t; m is at least F(t), and tends to
 * t / E + (cv^2 - 1) / 2 (Cox 1962, section 4.2). */
static double refill_steps(const struct rollout_plan *plan, double queued)
{
    double mean = plan->mean_tokens;
    double cv2 = mean_square(plan) / (mean * mean) - 1.0;
    double late = mean * (queued + fmax(0.0, 1.0 - cv2) / 2.0);

    if (queued <= 0.0) {
        return 0.0;
    }
    return queued < 1.0 ? fmin(late, length_quantile(plan, queued)) : late;
}

/* Share of slots still at work x steps after the queue ran empty at step
 * `since`: slots on their first response, which has lasted `since` already,
 * and the rest, whose residual lengths follow the stationary law of renewal
 * theory (Cox 1962). */
static double alive_at(const struct rollout_plan *plan, double since,
                       double x)
{
    double first = since > 0.0 ? survival(plan, since) : 1.0;
    double fresh = survival(plan, since + x);
    double residual = 1.0 - mean_below(plan, x) / plan->mean_tokens;

    return fmin(1.0, fresh + (1.0 - first) * fmax(0.0, residual));
}

struct drain {
    const struct rollout_shape *shape;
    const struct gang *gang;
    double per_replica;         /* slots of one replica */
    double since;               /* steps before the drain */
    double age;                 /* mean tokens of a response in flight then */
};

static double slot_step_s(const struct drain *d, double batch, double x)
{
    const struct rollout_shape *s = d->shape;
    double age = fmin(d->age + x, s->response_max_tokens);

    return decode_step_s(s->llm, s->precision, d->gang, s->tp,
                         fmax(1.0, batch), s->prompt_tokens + age);
}

/* Rows of x, growing quadratically so that short lengths are resolved too. */
static void fill_drain(struct rollout_plan *plan, const struct drain *d)
{
    double last_s = 0.0;
    double last_active = 1.0;

    for (int i = 0; i <= ROLLOUT_GRID; i++) {
        double part = (double)i / ROLLOUT_GRID;
        double x = plan->max_tokens * part * part;
        /* Just before the cut, where its share is still alive. */
        double at = i < ROLLOUT_GRID ? x : x * (1.0 - 1e-9);
        double alive = i == 0 ? 1.0 : alive_at(plan, d->since, at);
        double active = 1.0 - pow(1.0 - alive, d->per_replica);
        double step_s = slot_step_s(d, alive * d->per_replica, x);

        plan->x_tokens[i] = x;
        plan->alive[i] = alive;
        plan->fresh[i] = i == 0 ? 1.0 : survival(plan, at);
        if (i > 0) {
            double dx = x - plan->x_tokens[i - 1];
            double dt = dx * (step_s + last_s) / 2.0;
            plan->drain_s[i] = plan->drain_s[i - 1] + dt;
            plan->slot_s[i] = plan->slot_s[i - 1] +
                              dt * (alive + plan->alive[i - 1]) / 2.0;
            plan->replica_s[i] = plan->replica_s[i - 1] +
                                 dt * (active + last_active) / 2.0;
        }
        last_s = step_s;
        last_active = active;
    }
}

static double mix(const double *column, int row, double part)
{
    return column[row] + part * (column[row + 1] - column[row]);
}

/* The row and fraction at which a falling column has come down to q. */
static int find_row(const double *column, double q, double *part)
{
    int low = 0;
    int high = ROLLOUT_GRID;

    if (q <= column[ROLLOUT_GRID]) {
        *part = 1.0;
        return ROLLOUT_GRID - 1;
    }
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (column[middle] > q) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double a = column[low];
    double b = column[low + 1];
    /* Tails fall by factors, so between rows the logarithm is straight. */
    double span = b > 0.0 ? log(a / b) : 0.0;

    *part = span > 0.0 ? log(a / q) / span : a > b ? (a - q) / (a - b) : 0.0;
    *part = fmax(0.0, fmin(1.0, *part));
    return low;
}

static void fit_lengths(struct rollout_plan *plan,
                        const struct rollout_shape *shape)
{
    double cv = shape->response_cv;
    double variance = log(1.0 + cv * cv);

    plan->log_sd = sqrt(variance);
    plan->log_mean = log(shape->response_mean_tokens) - variance / 2.0;
    plan->max_tokens = shape->response_max_tokens;
    plan->mean_tokens = mean_below(plan, plan->max_tokens);
    plan->tokens = shape->responses * plan->mean_tokens;
}

static double slots_per_replica(const struct rollout_plan *plan,
                                const struct rollout_shape *shape,
                                const struct gang *gang)
{
    double context = shape->prompt_tokens + plan->mean_tokens;
    double held = memory_decode_batch_max(shape->llm, shape->precision,
                                          shape->tp, context,
                                          gang->gpu->memory_bytes);

    if (shape->concurrency_max > 0.0) {
        held = fmin(held, shape->concurrency_max);
    }
    return fmax(1.0, fmin(held, shape->responses / plan->replicas));
}

/* Where 90% of the responses are done, in drain time. */
static double tail_from(const struct rollout_plan *plan, double steady_share)
{
    double left = 0.1 * plan->responses / plan->slots;

    if (left >= 1.0) {
        double queued = plan->responses - plan->slots;
        double still = 0.1 * plan->responses - plan->slots;
        return queued > 0.0 ? -steady_share * still / queued : 0.0;
    }
    double part;
    int row = find_row(plan->alive, left, &part);
    return mix(plan->drain_s, row, part);
}

void rollout_plan_init(struct rollout_plan *plan,
                       const struct rollout_shape *shape,
                       const struct gang *gang)
{
    assert(plan && shape && shape->llm && gang && gang->gpu);
    assert(shape->tp > 0 && gang->gpus >= shape->tp);
    assert(shape->responses >= 1.0 && shape->response_mean_tokens >= 1.0);
    assert(shape->response_max_tokens >= 1.0 && shape->response_cv >= 0.0);
    *plan = (struct rollout_plan){ 0 };
    uint32_t held = gang->gpus / shape->tp;
    plan->replicas = held < shape->responses ? held
                                             : (uint32_t)shape->responses;
    plan->responses = shape->responses;
    fit_lengths(plan, shape);

    double share = slots_per_replica(plan, shape, gang);
    double queued = shape->responses / plan->replicas - share;
    double since = refill_steps(plan, fmax(0.0, queued) / share);
    double first = survival(plan, since);
    double stationary = mean_square(plan) / (2.0 * plan->mean_tokens);
    struct drain d = {
        .shape = shape, .gang = gang, .per_replica = share, .since = since,
        .age = first * since + (1.0 - first) * stationary,
    };
    double prompts = shape->responses / plan->replicas /
                     fmax(1.0, shape->responses_per_prompt);

    plan->slots = share * plan->replicas;
    plan->load = DECODE_LOAD;
    plan->prefill_s = decode_prefill_s(shape->llm, shape->precision, gang,
                                       shape->tp, prompts,
                                       shape->prompt_tokens);
    plan->steady_s = since > 0.0
                         ? since * slot_step_s(&d, share, stationary - d.age)
                         : 0.0;
    fill_drain(plan, &d);
    plan->tail_from_s = tail_from(plan, plan->steady_s);
}

static double longest(const struct rollout_plan *plan, double log_u)
{
    double part;
    int row = find_row(plan->fresh, -expm1(log_u / plan->responses), &part);

    return mix(plan->x_tokens, row, part);
}

struct rollout_time rollout_draw(const struct rollout_plan *plan, double u)
{
    assert(plan && plan->slots >= 1.0);
    assert(u >= 0.0 && u < 1.0);
    struct rollout_time out = { 0 };
    /* The largest of n draws is exceeded with probability 1 - u^(1/n): here
     * the last of the slots to finish, below the longest of all responses. */
    double log_u = log(fmax(u, DBL_MIN));
    double part;
    int row = find_row(plan->alive, -expm1(log_u / plan->slots), &part);
    double drain_s = mix(plan->drain_s, row, part);
    double busy_s = plan->prefill_s + plan->load *
                    (plan->steady_s + mix(plan->replica_s, row, part));

    out.prefill_s = plan->prefill_s;
    out.decode_s = plan->steady_s + drain_s;
    out.total_s = out.prefill_s + out.decode_s;
    out.tail_s = fmax(0.0, drain_s - plan->tail_from_s);
    out.tokens = plan->tokens;
    out.longest_tokens = longest(plan, log_u);
    if (out.total_s > 0.0) {
        double idle_s = drain_s - mix(plan->slot_s, row, part);
        out.tail_idle_fraction = fmax(0.0, idle_s) / out.total_s;
        out.busy_fraction = busy_s / out.total_s;
    }
    return out;
}

struct rollout_time rollout_time(const struct rollout_shape *shape,
                                 const struct gang *gang, double u)
{
    struct rollout_plan plan;

    rollout_plan_init(&plan, shape, gang);
    return rollout_draw(&plan, u);
}
