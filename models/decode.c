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
#include "models/renewal.h"

/* KV cache is read at this share of the peak bandwidth (the fit above). */
#define KV_RATE 0.95
/* The constants below without a source of their own were chosen on AccelMark's
 * A100-80, H100 and RTX 4090, Splitwise's Llama-2-70B, TensorRT-LLM 0.6's
 * LLaMA 7B, and aiconfigurator's silicon samples of Llama-3.1-70B; other
 * models and devices of these suites test them (models/README.md). */
/* Share of the sustained bandwidth that a whole step reaches. */
#define WEIGHT_SHARE 0.975
/* Arithmetic overlaps with reading weights: half of it shows. */
#define MATH_SHARE 2.0
/* Host part of one engine step and of each response in it (sampling, block
 * tables); gaps between the kernels of a layer in a graph. */
#define STEP_S 2.2e-3
#define SEQUENCE_S 20e-6
#define LAYER_S 12e-6
/* Further kernels of a layer that scale activations to 8 or 4 bits. */
#define SCALE_S 6e-6
/* The same where the host launches every kernel: it overlaps with the GPU,
 * and either waits for the other now and then. */
#define EAGER_LAYER_S 0.345e-3
#define EAGER_SEQUENCE_S 0.3e-3
/* A prefill of an eager engine takes longer by each pair of tokens (a mask of
 * the whole batch, not divided by tensor parallelism), among so many at once. */
#define EAGER_PAIR_S 1.2e-8
#define EAGER_TOKENS 4608.0
#define EAGER_PREFILL_LAYER_S 0.6e-3
/* A compiled host. */
#define COMPILED_STEP_S 0.75e-3
#define COMPILED_SEQUENCE_S 11.5e-6
/* Share of the rate that prefills reach on matrices of any size. */
#define PREFILL_SHARE 0.80
/* Share of tensor parallel exchanges that a fused all-reduce leaves. */
#define EXCHANGE_SHARE 0.65
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
    /* The output layer stays in 16 bits. */
    double head = table * fmax(0.0, 2.0 - per);

    return (llm->params - untied - idle) * per + head;
}

/* Two all-reduces of the activations of a layer. */
static double exchange_s(const struct llm *llm, const struct gang *gang,
                         uint32_t tp, double tokens)
{
    if (tp == 1) {
        return 0.0;
    }
    return 2.0 * llm->layers *
           comm_group_s(COMM_ALL_REDUCE, gang, tp, 2.0 * tokens * llm->hidden);
}

/* Launching takes one core; a gang of unknown cores has the fastest. */
static double host_slow(const struct gang *gang)
{
    return gang->cpu != NULL && gang->cpu->core_speed > 0.0
               ? 1.0 / gang->cpu->core_speed : 1.0;
}

/* Time of the parts that one replica's host adds to the GPU's work. */
static double with_host_s(const struct llm *llm, const struct gang *gang,
                          double work_s, double batch,
                          enum decode_engine engine)
{
    switch (engine) {
    case DECODE_EAGER:
        return hypot(work_s, EAGER_LAYER_S * llm->layers * host_slow(gang)) +
               STEP_S + EAGER_SEQUENCE_S * batch;
    case DECODE_COMPILED:
    case DECODE_KV8:
    case DECODE_UNGROUPED:
        return work_s + COMPILED_STEP_S +
               COMPILED_SEQUENCE_S * batch;
    case DECODE_GRAPHS:
    case DECODE_WAVES:
        break;
    }
    return work_s + STEP_S + SEQUENCE_S * batch;
}

/* How often a cached element is read, in units of 16 bits. */
static double cache_factor(const struct llm *llm, enum precision precision,
                           enum decode_engine engine)
{
    switch (engine) {
    case DECODE_KV8:
        return 0.5;
    case DECODE_UNGROUPED:
        return (precision == PRECISION_FP8 ? 0.5 : 1.0) *
               llm->heads / llm->kv_heads;
    case DECODE_GRAPHS:
    case DECODE_WAVES:
    case DECODE_EAGER:
    case DECODE_COMPILED:
        break;
    }
    return 1.0;
}

/* Gaps between kernels; formats below 16 bits scale activations first. */
static double gaps_s(const struct llm *llm, enum precision precision)
{
    bool scaled = precision == PRECISION_FP8 || precision == PRECISION_FP4;

    return (LAYER_S + (scaled ? SCALE_S : 0.0)) * llm->layers;
}

double decode_engine_step_s(const struct llm *llm, enum precision precision,
                            const struct gang *gang, uint32_t tp,
                            double batch, double context_tokens,
                            enum decode_engine engine)
{
    assert(llm && gang && gang->gpu && tp > 0 && gang->gpus >= tp);
    assert(batch > 0.0 && context_tokens >= 0.0);
    const struct gpu_type *gpu = gang->gpu;
    double heads = fmin(tp, llm->kv_heads);
    double weight_s = step_weight_bytes(llm, precision, batch) / tp /
                      (WEIGHT_SHARE * gpu->memory_bps_sustained);
    double kv_s = batch * context_tokens * memory_kv_bytes_per_token(llm) /
                  heads / (KV_RATE * gpu->memory_bps) *
                  cache_factor(llm, precision, engine);
    double math_s = compute_forward_flops(llm, batch, 0.0) / tp /
                    (MATH_SHARE * compute_sustained_flops(gpu, precision));

    return with_host_s(llm, gang, weight_s + kv_s + math_s +
                       (engine == DECODE_EAGER ? 0.0 :
                        gaps_s(llm, precision)) +
                       EXCHANGE_SHARE * exchange_s(llm, gang, tp, batch),
                       batch, engine);
}

double decode_step_s(const struct llm *llm, enum precision precision,
                     const struct gang *gang, uint32_t tp, double batch,
                     double context_tokens)
{
    return decode_engine_step_s(llm, precision, gang, tp, batch,
                                context_tokens, DECODE_GRAPHS);
}

double decode_engine_prefill_s(const struct llm *llm,
                               enum precision precision,
                               const struct gang *gang, uint32_t tp,
                               double prompts, double prompt_tokens,
                               enum decode_engine engine)
{
    assert(llm && gang && gang->gpu && tp > 0 && gang->gpus >= tp);
    assert(prompts >= 0.0 && prompt_tokens >= 0.0);
    double tokens = prompts * prompt_tokens;
    double width = llm->hidden / sqrt((double)tp);
    double rate = PREFILL_SHARE *
                  compute_size_efficiency(width, fmax(1.0, tokens)) *
                  compute_sustained_flops(gang->gpu, precision);
    double math_s = compute_forward_flops(llm, tokens, prompt_tokens / 2.0) /
                    tp / rate;
    double work_s = math_s + exchange_s(llm, gang, tp, tokens);

    if (engine != DECODE_EAGER) {
        return work_s;
    }
    return hypot(work_s, EAGER_PREFILL_LAYER_S * llm->layers *
                         host_slow(gang)) +
           EAGER_PAIR_S * tokens * fmin(tokens, EAGER_TOKENS);
}

double decode_prefill_s(const struct llm *llm, enum precision precision,
                        const struct gang *gang, uint32_t tp, double prompts,
                        double prompt_tokens)
{
    return decode_engine_prefill_s(llm, precision, gang, tp, prompts,
                                   prompt_tokens, DECODE_GRAPHS);
}

/* Arithmetic overlaps with reading weights; an eager prefill has its host's
 * part already. */
double decode_first_token_s(const struct llm *llm, enum precision precision,
                            const struct gang *gang, uint32_t tp,
                            double prompts, double prompt_tokens,
                            enum decode_engine engine)
{
    assert(prompts > 0.0);
    double work_s = decode_engine_prefill_s(llm, precision, gang, tp, prompts,
                                            prompt_tokens, engine);

    if (engine == DECODE_EAGER)
        return work_s;
    return hypot(work_s, decode_engine_step_s(llm, precision, gang, tp,
                                              prompts, 0.0, engine));
}

/* While one response grows by its output, each of the others is replaced once,
 * and its prompt is computed in between.  Chunks of prompts beside decoding
 * hide some of it.  Where prompts come first, requests run in waves, and one
 * sees on average that half of its wave's prompts that come after its own. */
#define WAVE_SEEN (1.0 / 2.0)

double decode_served_step_s(const struct llm *llm, enum precision precision,
                            const struct gang *gang, uint32_t tp,
                            double concurrency, double prompt_tokens,
                            double output_tokens, enum decode_engine engine)
{
    assert(concurrency > 0.0 && output_tokens > 0.0);
    double held = memory_decode_batch_max(llm, precision, tp, prompt_tokens +
                                          output_tokens / 2.0,
                                          gang->gpu->memory_bytes) /
                  (engine == DECODE_KV8 ? 0.5 : 1.0);
    double seen = engine == DECODE_WAVES ? WAVE_SEEN : DECODE_PREFILL_SEEN;

    /* Others wait in the queue, where no token is between tokens. */
    concurrency = fmin(concurrency, fmax(1.0, held));
    double step_s = decode_engine_step_s(llm, precision, gang, tp,
                                         concurrency, prompt_tokens +
                                         output_tokens / 2.0, engine);
    double prefill_s = decode_engine_prefill_s(llm, precision, gang, tp, 1.0,
                                               prompt_tokens, engine);

    return step_s + seen * fmax(0.0, concurrency - 1.0) * prefill_s /
                        output_tokens;
}

/* Lengths: lognormal(log_mean, log_sd), cut at max_tokens. */

static double normal_cdf(double z)
{
    return 0.5 * erfc(-z * 0.70710678118654752440);
}

static double whole_survival(const struct rollout_plan *plan, double x)
{
    if (x <= 0.0) {
        return 1.0;
    }
    if (x >= plan->cut_tokens) {
        return 0.0;
    }
    if (plan->log_sd <= 0.0) {
        return log(x) < plan->log_mean ? 1.0 : 0.0;
    }
    return normal_cdf((plan->log_mean - log(x)) / plan->log_sd);
}

/* Of a part: the k-th part of a response is longer than x if the response is
 * longer than k parts and x. */
static double survival(const struct rollout_plan *plan, double x)
{
    double sum = 0.0;

    if (x <= 0.0) {
        return 1.0;
    }
    if (x >= plan->max_tokens) {
        return 0.0;
    }
    for (double from = 0.0; from < plan->cut_tokens;
         from += plan->max_tokens) {
        sum += whole_survival(plan, from + x);
    }
    return sum / plan->parts;
}

/* E[min(L, x)] = the integral of survival from 0 to x, for x <= cut. */
static double whole_mean_below(const struct rollout_plan *plan, double x)
{
    double m = plan->log_mean;
    double s = plan->log_sd;

    if (x <= 0.0) {
        return 0.0;
    }
    x = fmin(x, plan->cut_tokens);
    if (s <= 0.0) {
        return fmin(exp(m), x);
    }
    double z = (log(x) - m) / s;

    return exp(m + s * s / 2.0) * normal_cdf(z - s) + x * normal_cdf(-z);
}

static double mean_below(const struct rollout_plan *plan, double x)
{
    double sum = 0.0;

    x = fmin(fmax(x, 0.0), plan->max_tokens);
    for (double from = 0.0; from < plan->cut_tokens;
         from += plan->max_tokens) {
        sum += whole_mean_below(plan, from + x) -
               whole_mean_below(plan, from);
    }
    return sum / plan->parts;
}

/* The integral of 2 x survival(x), by Simpson's rule. */
static double part_square(const struct rollout_plan *plan)
{
    enum { PANELS = 64 };
    double h = plan->max_tokens / (2 * PANELS), sum = 0.0;

    for (int i = 1; i < 2 * PANELS; i++) {
        sum += (i % 2 ? 4.0 : 2.0) * 2.0 * i * h * survival(plan, i * h);
    }
    sum += 2.0 * plan->max_tokens *
           survival(plan, plan->max_tokens * (1.0 - 1e-9));
    return sum * h / 3.0;
}

/* E[min(L, max)^2], likewise. */
static double mean_square(const struct rollout_plan *plan)
{
    double m = plan->log_mean;
    double s = plan->log_sd;
    double x = plan->cut_tokens;

    if (plan->max_tokens < plan->cut_tokens) {
        return part_square(plan);
    }
    if (s <= 0.0) {
        double l = fmin(exp(m), x);
        return l * l;
    }
    double z = (log(x) - m) / s;

    return exp(2.0 * m + 2.0 * s * s) * normal_cdf(z - 2.0 * s) +
           x * x * normal_cdf(-z);
}

/* How a rollout fills its slots again: exactly while each has few responses
 * after another, and by the limits of renewal theory (Cox 1962, section 4.2)
 * when there are many. */
struct refill {
    struct renewal renewal;
    bool exact;
    double since;               /* steps until the queue is empty */
    double age, steady_age;     /* of responses in flight: then, and before */
};

#define EXACT_QUEUED 6.0        /* responses after the first, per slot */

static double survival_of(const void *plan, double x)
{
    return survival(plan, x);
}

static void refill_init(struct refill *refill,
                        const struct rollout_plan *plan, double queued)
{
    double mean = plan->mean_tokens;
    double cv2 = mean_square(plan) / (mean * mean) - 1.0;
    double stationary = mean_square(plan) / (2.0 * mean);

    refill->exact = queued < EXACT_QUEUED;
    if (refill->exact) {
        renewal_init(&refill->renewal, survival_of, plan,
                     mean * (queued + 1.0 + fmax(0.0, 1.0 - cv2)));
        refill->since = queued > 0.0
                            ? renewal_time(&refill->renewal, queued) : 0.0;
        refill->age = renewal_age(&refill->renewal, refill->since);
        refill->steady_age =
            refill->since > 0.0
                ? renewal_mean_age(&refill->renewal, refill->since) : 0.0;
        return;
    }
    refill->since = mean * (queued + (1.0 - cv2) / 2.0);
    refill->age = refill->steady_age = stationary;
}

/* Share of slots still at work x steps after the queue ran empty. */
static double alive_at(const struct refill *refill,
                       const struct rollout_plan *plan, double x)
{
    if (refill->exact) {
        return renewal_alive(&refill->renewal, refill->since, x);
    }
    return fmax(0.0, 1.0 - mean_below(plan, x) / plan->mean_tokens);
}

struct drain {
    const struct rollout_shape *shape;
    const struct gang *gang;
    double per_replica;         /* slots of one replica */
    const struct refill *refill;
    double longest, carried;    /* tokens: at most now, and before */
};

static double slot_step_s(const struct drain *d, double batch, double x)
{
    const struct rollout_shape *s = d->shape;
    double age = fmin(d->refill->age + x, d->longest);

    return decode_step_s(s->llm, s->precision, d->gang, s->tp,
                         fmax(1.0, batch), s->prompt_tokens + d->carried +
                         age);
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
        double alive = i == 0 ? 1.0 : alive_at(d->refill, plan, at);
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

/* A replica of so many tokens more than the mean takes so much longer: standard
 * deviation of its time, with the lengths it was given. */
static double spread_s(const struct rollout_plan *plan, const struct drain *d)
{
    double each = plan->responses / plan->replicas;
    double variance = fmax(0.0, mean_square(plan) - plan->mean_tokens *
                                                        plan->mean_tokens);
    double half = d->per_replica / 2.0;

    if (half < 1.0) {
        return 0.0;
    }
    double slot_s = (slot_step_s(d, 2.0 * half, 0.0) -
                     slot_step_s(d, half, 0.0)) / half;

    return slot_s * sqrt(variance * each);
}

/* P(one replica is done by t): its longest response by the rows, and around
 * that the spread of what else it had. */
static double done_by(const struct rollout_plan *plan, const double *longest,
                      double sd_s, double t)
{
    double sum = 0.0, last = 0.0;

    /* Between two rows in the middle; what was cut, at the end. */
    for (int i = 1; i <= ROLLOUT_GRID + 1; i++) {
        int row = i <= ROLLOUT_GRID ? i : ROLLOUT_GRID;
        double share = (i <= ROLLOUT_GRID ? longest[i] : 1.0) - last;
        double late_s = t - (plan->drain_s[i - 1] + plan->drain_s[row]) / 2.0;

        last += share;
        if (share > 0.0) {
            sum += share * (sd_s > 0.0 ? normal_cdf(late_s / sd_s)
                                       : late_s >= 0.0);
        }
    }
    return sum;
}

/* All replicas must be done; each has its own lengths. */
static void fill_finish(struct rollout_plan *plan, const struct drain *d)
{
    double longest[ROLLOUT_GRID + 1];
    double sd_s = spread_s(plan, d);
    int first = 0;

    for (int i = 0; i <= ROLLOUT_GRID; i++) {
        longest[i] = pow(1.0 - plan->alive[i], d->per_replica);
        first = pow(longest[i], plan->replicas) < 1e-6 ? i : first;
    }
    plan->finish_from_s = plan->drain_s[first] - 4.0 * sd_s;
    plan->finish_to_s = plan->drain_s[ROLLOUT_GRID] + 4.0 * sd_s;
    for (int j = 0; j <= ROLLOUT_FINISH_GRID; j++) {
        double part = (double)j / ROLLOUT_FINISH_GRID;
        double t = plan->finish_from_s +
                   part * (plan->finish_to_s - plan->finish_from_s);
        plan->finish[j] = pow(done_by(plan, longest, sd_s, t),
                              plan->replicas);
    }
}

/* The drain time by which all are done with probability u. */
static double finish_s(const struct rollout_plan *plan, double u)
{
    int low = 0, high = ROLLOUT_FINISH_GRID;

    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (plan->finish[middle] < u) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double span = plan->finish[high] - plan->finish[low];
    double part = span > 0.0 ? (u - plan->finish[low]) / span : 1.0;
    double step_s = (plan->finish_to_s - plan->finish_from_s) /
                    ROLLOUT_FINISH_GRID;

    return fmax(0.0, plan->finish_from_s +
                         (low + fmax(0.0, fmin(1.0, part))) * step_s);
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

/* So many parts does a response have on average, and so much was made before
 * the mean one began. */
static void fit_parts(struct rollout_plan *plan, double part_tokens)
{
    double before = 0.0;

    plan->max_tokens = part_tokens;
    plan->parts = 0.0;
    for (double from = 0.0; from < plan->cut_tokens; from += part_tokens) {
        double reached = whole_survival(plan, from);
        plan->parts += reached;
        before += reached * from;
    }
    plan->carried_tokens = before / plan->parts;
}

static void fit_lengths(struct rollout_plan *plan,
                        const struct rollout_shape *shape)
{
    double cv = shape->response_cv;
    double variance = log(1.0 + cv * cv);

    plan->log_sd = sqrt(variance);
    plan->log_mean = log(shape->response_mean_tokens) - variance / 2.0;
    plan->cut_tokens = plan->max_tokens = shape->response_max_tokens;
    plan->parts = 1.0;
    if (shape->part_tokens > 0.0 &&
        shape->part_tokens < shape->response_max_tokens) {
        fit_parts(plan, shape->part_tokens);
    }
    plan->responses = shape->responses * plan->parts;
    plan->mean_tokens = mean_below(plan, plan->max_tokens);
    plan->tokens = plan->responses * plan->mean_tokens;
}

static double slots_per_replica(const struct rollout_plan *plan,
                                const struct rollout_shape *shape,
                                const struct gang *gang)
{
    double context = shape->prompt_tokens + plan->carried_tokens +
                     plan->mean_tokens;
    double held = memory_decode_batch_max(shape->llm, shape->precision,
                                          shape->tp, context,
                                          gang->gpu->memory_bytes -
                                              shape->reserved_bytes);

    if (shape->concurrency_max > 0.0) {
        held = fmin(held, shape->concurrency_max);
    }
    return fmax(1.0, fmin(held, plan->responses / plan->replicas));
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

/* New prompts of one replica, and what is taken up again.  The first fill the
 * slots before much is decoded; the others are computed beside it. */
static double prompts_s(const struct rollout_plan *plan,
                        const struct rollout_shape *shape,
                        const struct gang *gang)
{
    double fresh = shape->responses / plan->replicas;
    double again = fresh * (plan->parts - 1.0);
    double s = decode_prefill_s(shape->llm, shape->precision, gang, shape->tp,
                                fresh / fmax(1.0, shape->responses_per_prompt),
                                shape->prompt_tokens);

    if (again > 0.0) {
        double before = plan->carried_tokens * plan->parts /
                        (plan->parts - 1.0);
        s += decode_prefill_s(shape->llm, shape->precision, gang, shape->tp,
                              again, shape->prompt_tokens + before);
    }
    double first = fmin(1.0, plan->slots / plan->replicas / (fresh + again));

    return s * (first + (1.0 - first) * DECODE_PREFILL_SEEN);
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
    fit_lengths(plan, shape);

    double share = slots_per_replica(plan, shape, gang);
    double queued = plan->responses / plan->replicas - share;
    struct refill refill;

    refill_init(&refill, plan, fmax(0.0, queued) / share);
    struct drain d = {
        .shape = shape, .gang = gang, .per_replica = share,
        .refill = &refill, .longest = plan->max_tokens,
        .carried = plan->carried_tokens,
    };

    plan->slots = share * plan->replicas;
    plan->load = DECODE_LOAD;
    plan->prefill_s = prompts_s(plan, shape, gang);
    plan->steady_s = refill.since *
                     slot_step_s(&d, share, refill.steady_age - refill.age);
    fill_drain(plan, &d);
    fill_finish(plan, &d);
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
    double drain_s = finish_s(plan, u);
    double busy_s = plan->prefill_s + plan->load *
                    (plan->steady_s +
                     fmin(drain_s, mix(plan->replica_s, row, part)));

    out.prefill_s = plan->prefill_s;
    out.decode_s = plan->steady_s + drain_s;
    out.total_s = out.prefill_s + out.decode_s;
    out.tail_s = fmax(0.0, drain_s - plan->tail_from_s);
    out.tokens = plan->tokens;
    out.longest_tokens = longest(plan, log_u);
    if (out.total_s > 0.0) {
        double idle_s = drain_s - fmin(drain_s, mix(plan->slot_s, row, part));
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

/* Mean and cv of lengths that are beyond the row. */
static void beyond(const struct rollout_plan *plan, int row,
                   struct rollout_shape *rest)
{
    double sum = 0.0, square = 0.0, from = plan->x_tokens[row];

    for (int i = row; i < ROLLOUT_GRID; i++) {
        double dx = plan->x_tokens[i + 1] - plan->x_tokens[i];
        double s = (plan->fresh[i] + plan->fresh[i + 1]) / 2.0;
        sum += s * dx;
        square += s * dx * (plan->x_tokens[i] + plan->x_tokens[i + 1]);
    }
    if (!(plan->fresh[row] > 0.0) || !(sum > 0.0)) {
        return;
    }
    double mean = from + sum / plan->fresh[row];
    double second = from * from + square / plan->fresh[row];

    rest->response_mean_tokens = mean;
    rest->response_cv = sqrt(fmax(0.0, second - mean * mean)) / mean;
}

struct rollout_shape rollout_rest(const struct rollout_shape *shape,
                                  const struct gang *gang, double at_s)
{
    struct rollout_shape rest = *shape;
    struct rollout_plan plan;
    int row = 0;

    assert(at_s >= 0.0);
    rollout_plan_init(&plan, shape, gang);
    double decode_s = at_s - plan.prefill_s;
    double left = plan.responses, queued = plan.responses - plan.slots;

    if (decode_s <= 0.0) {
        return rest;
    }
    if (decode_s < plan.steady_s) {
        left -= queued * decode_s / plan.steady_s;
    } else {
        while (row < ROLLOUT_GRID &&
               plan.drain_s[row + 1] <= decode_s - plan.steady_s) {
            row++;
        }
        left = plan.slots * plan.alive[row];
        beyond(&plan, row, &rest);
    }
    rest.responses = fmax(1.0, left / plan.parts);
    return rest;
}
