/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rollout.c - the time of a rollout from the laws of a step: slots that are
 * filled again, then the drain, then the last of the replicas.
 *
 * A plan (rollout_plan_init) has two tables by the time since the queue ran empty,
 * so that a rollout is drawn in O(log rows) for any quantile of its longest
 * response: how many responses are still at work, and with which probability all
 * are done.  Times are in seconds, lengths in tokens.
 *
 * The steady part before, in which a slot that is done takes the next response,
 * follows from means alone (refill_init).
 */
#include "models/laws/rollout.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/cores.h"
#include "models/laws/decode.h"
#include "models/laws/memory.h"
#include "models/laws/renewal.h"
#include "models/types/gang.h"

/* Load of a decoding GPU in terms of power.h: (250 - 63) / (400 - 63) on A100
 * and (380 - 75) / (700 - 75) on H100 (Splitwise 8f99e7d); the mean. */
#define DECODE_LOAD 0.52

/* How a rollout fills its slots again: exactly while each has few responses
 * after another, and by the limits of renewal theory (Cox 1962, section 4.2)
 * when there are many. */
struct refill {
    struct renewal renewal;     /* of lengths in tokens */
    bool exact;
    double since;               /* steps until the queue is empty */
    double age, steady_age;     /* of responses in flight: then, and before */
};

#define EXACT_QUEUED 6.0        /* responses after the first, per slot */

/* The survival of a length, in the form that renewal.h takes. */
static double lengths_above(const void *lengths, double x)
{
    return rollout_lengths_above(lengths, x);
}

/* How long the slots of a replica are refilled from `queued` responses a slot,
 * and how old the responses in flight are when that ends.  In the limit a
 * renewal process of mean m has done x / m - (1 - cv2) / 2 lengths after x
 * steps, and the mean age of what is in flight is E[L^2] / (2 m). */
static void refill_init(struct refill *refill,
                        const struct rollout_plan *plan, double queued)
{
    assert(queued >= 0.0);
    double mean = plan->mean_tokens;
    double cv2 = rollout_lengths_square(&plan->lengths) / (mean * mean) - 1.0;
    double stationary = rollout_lengths_square(&plan->lengths) / (2.0 * mean);

    refill->exact = queued < EXACT_QUEUED;
    if (refill->exact) {
        renewal_init(&refill->renewal, lengths_above, &plan->lengths,
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
    assert(x >= 0.0);
    if (refill->exact) {
        return renewal_alive(&refill->renewal, refill->since, x);
    }
    return fmax(0.0, 1.0 - rollout_lengths_mean(&plan->lengths, x) /
                               plan->mean_tokens);
}

/* What the drain of one replica depends on. */
struct drain {
    const struct rollout_shape *shape;  /* of the caller */
    const struct gang *gang;    /* all replicas' GPUs */
    double per_replica;         /* slots of one replica */
    const struct refill *refill;    /* how slots were filled until the drain */
    double longest, carried;    /* tokens: at most now, and before */
};

/* Rollouts are timed as engines with CUDA graphs run them (DECODE_GRAPHS), the usual form. */
static struct decode_replica replica_of(const struct rollout_shape *shape,
                                        const struct gang *gang)
{
    assert(shape->llm != NULL && shape->tp > 0);
    assert(gang->gpus == 0 || gang->gpus >= shape->tp);
    return (struct decode_replica){ .llm = shape->llm, .precision = shape->precision,
                                    .gang = gang, .tp = shape->tp, .engine = DECODE_GRAPHS,
                                    .ahead = shape->ahead };
}

/* Seconds of one decoding step of that many responses, x steps after the drain
 * began: their context is what was given, what earlier parts made, and their
 * age. */
static double slot_step_s(const struct drain *d, double batch, double x)
{
    struct decode_replica replica = replica_of(d->shape, d->gang);
    double age = fmin(d->refill->age + x, d->longest);

    return decode_step_s(&replica, fmax(1.0, batch),
                         d->shape->prompt_tokens + d->carried + age);
}

/* Rows of x, growing quadratically so that short lengths are resolved too. */
static void fill_drain(struct rollout_plan *plan, const struct drain *d)
{
    assert(plan->replicas > 0);
    double last_s = 0.0;
    double last_active = 1.0;

    for (int i = 0; i <= ROLLOUT_GRID; i++) {
        double part = (double)i / ROLLOUT_GRID;
        double x = plan->lengths.max_tokens * part * part;
        /* Just before the cut, where its share is still alive. */
        double at = i < ROLLOUT_GRID ? x : x * (1.0 - 1e-9);
        /* All slots are at work when the queue runs empty, whatever the grid says. */
        double alive = i == 0 ? 1.0 : alive_at(d->refill, plan, at);
        double active = 1.0 - pow(1.0 - alive, d->per_replica);
        double step_s = slot_step_s(d, alive * d->per_replica, x);

        plan->x_tokens[i] = x;
        plan->alive[i] = alive;
        plan->fresh[i] =
            i == 0 ? 1.0 : rollout_lengths_above(&plan->lengths, at);
        if (i > 0) {
            /* Trapezoids: the mean of both ends times the time between them. */
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

/* A replica with more tokens than the mean takes longer in proportion: standard
 * deviation of its time, with the lengths it was given. */
static double spread_s(const struct rollout_plan *plan, const struct drain *d)
{
    assert(plan->replicas > 0);
    double each = plan->responses / plan->replicas;
    double variance = fmax(0.0, rollout_lengths_square(&plan->lengths) -
                                    plan->mean_tokens * plan->mean_tokens);
    double half = d->per_replica / 2.0;

    /* Fewer than two slots: no response has another one beside it. */
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
    assert(sd_s >= 0.0);
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
    assert(plan->replicas > 0);
    assert(plan->responses > 0.0);
    double longest[ROLLOUT_GRID + 1];
    double sd_s = spread_s(plan, d);
    int first = 0;

    for (int i = 0; i <= ROLLOUT_GRID; i++) {
        longest[i] = pow(1.0 - plan->alive[i], d->per_replica);
        /* The grid of times begins where all are done with a chance of one in a million. */
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
    assert(u >= 0.0 && u < 1.0);
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

/* Between a row and the next, linearly. */
static double mix_rows(const double *column, int row, double part)
{
    assert(row >= 0 && row < ROLLOUT_GRID);
    assert(part >= 0.0 && part <= 1.0);
    return column[row] + part * (column[row + 1] - column[row]);
}

/* The row and fraction at which a falling column has come down to q. */
static int find_row(const double *column, double q, double *part)
{
    assert(column != NULL && part != NULL);
    int low = 0;
    int high = ROLLOUT_GRID;

    /* What is cut stays above q up to the end: the last row. */
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

/* Lengths, their number and their sum in this rollout; with parts, every part
 * counts as a response. */
static void fit_lengths(struct rollout_plan *plan,
                        const struct rollout_shape *shape)
{
    assert(shape->response_mean_tokens > 0.0);
    assert(shape->response_max_tokens > 0.0);
    plan->lengths = rollout_lengths(shape->response_mean_tokens,
                                    shape->response_cv,
                                    shape->response_max_tokens,
                                    shape->part_tokens);
    plan->responses = shape->responses * plan->lengths.parts;
    plan->mean_tokens = rollout_lengths_mean(&plan->lengths,
                                             plan->lengths.max_tokens);
    plan->tokens = plan->responses * plan->mean_tokens;
}

double rollout_response_tokens(const struct rollout_shape *shape)
{
    struct rollout_lengths whole = rollout_lengths(shape->response_mean_tokens,
                                                   shape->response_cv,
                                                   shape->response_max_tokens, 0.0);

    assert(whole.parts == 1.0);
    return rollout_lengths_mean(&whole, whole.max_tokens);
}

/* Responses of a replica in flight: as many as memory holds with the mean
 * context, the engine's limit, or all that it has; one at least, even where
 * memory is short. */
static double slots_per_replica(const struct rollout_plan *plan,
                                const struct rollout_shape *shape,
                                const struct gang *gang)
{
    assert(shape->tp > 0);
    assert(plan->replicas > 0);
    double context = shape->prompt_tokens + plan->lengths.carried_tokens +
                     plan->mean_tokens;
    double held = gang->gpu == NULL
                      ? cores_batch_max(shape->llm, shape->precision, context,
                                        shape->host_bytes)
                      : memory_decode_batch_max(shape->llm, shape->precision,
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
    assert(steady_share >= 0.0);
    double left = 0.1 * plan->responses / plan->slots;

    /* More are left than there are slots: 90% are done while prompts still wait. */
    if (left >= 1.0) {
        double queued = plan->responses - plan->slots;
        double still = 0.1 * plan->responses - plan->slots;
        return queued > 0.0 ? -steady_share * still / queued : 0.0;
    }
    double part;
    int row = find_row(plan->alive, left, &part);
    return mix_rows(plan->drain_s, row, part);
}

/* New prompts of one replica, and what is taken up again.  The first fill the
 * slots before much is decoded; the others are computed beside it. */
static double prompts_s(const struct rollout_plan *plan,
                        const struct rollout_shape *shape,
                        const struct gang *gang)
{
    assert(shape->responses_per_prompt >= 1.0);
    assert(shape->prompt_tokens > 0.0);
    assert(plan->replicas > 0);
    double fresh = shape->responses / plan->replicas;
    double again = fresh * (plan->lengths.parts - 1.0);
    struct decode_replica replica = replica_of(shape, gang);
    double s = decode_prefill_s(&replica,
                                fresh / fmax(1.0, shape->responses_per_prompt),
                                shape->prompt_tokens);

    if (again > 0.0) {
        double before = plan->lengths.carried_tokens * plan->lengths.parts /
                        (plan->lengths.parts - 1.0);
        s += decode_prefill_s(&replica, again, shape->prompt_tokens + before);
    }
    double first = fmin(1.0, plan->slots / plan->replicas / (fresh + again));

    return s * (first + (1.0 - first) * DECODE_PREFILL_SEEN);
}

void rollout_plan_init(struct rollout_plan *plan,
                       const struct rollout_shape *shape,
                       const struct gang *gang)
{
    assert(plan && shape && shape->llm && gang);
    assert(shape->tp > 0 && (gang->gpus == 0 || gang->gpus >= shape->tp));
    assert(shape->responses >= 1.0 && shape->response_mean_tokens >= 1.0);
    assert(shape->response_max_tokens >= 1.0 && shape->response_cv >= 0.0);
    *plan = (struct rollout_plan){ 0 };
    uint32_t held = gang->gpus == 0 ? 1 : gang->gpus / shape->tp;
    /* No replica without a response. */
    plan->replicas = held < shape->responses ? held
                                             : (uint32_t)shape->responses;
    fit_lengths(plan, shape);

    double share = slots_per_replica(plan, shape, gang);
    double queued = plan->responses / plan->replicas - share;
    struct refill refill;

    refill_init(&refill, plan, fmax(0.0, queued) / share);
    struct drain d = {
        .shape = shape, .gang = gang, .per_replica = share,
        .refill = &refill, .longest = plan->lengths.max_tokens,
        .carried = plan->lengths.carried_tokens,
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

/* The length of the longest of all responses, at the quantile that the draw
 * has. */
static double longest_response(const struct rollout_plan *plan, double log_u)
{
    assert(log_u <= 0.0);
    double part;
    int row = find_row(plan->fresh, -expm1(log_u / plan->responses), &part);

    return mix_rows(plan->x_tokens, row, part);
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
                     fmin(drain_s, mix_rows(plan->replica_s, row, part)));

    out.prefill_s = plan->prefill_s;
    out.decode_s = plan->steady_s + drain_s;
    out.total_s = out.prefill_s + out.decode_s;
    out.tail_s = fmax(0.0, drain_s - plan->tail_from_s);
    out.tokens = plan->tokens;
    out.longest_tokens = longest_response(plan, log_u);
    if (out.total_s > 0.0) {
        double idle_s = drain_s - fmin(drain_s, mix_rows(plan->slot_s, row, part));
        out.tail_idle_fraction = fmax(0.0, idle_s) / out.total_s;
        out.busy_fraction = busy_s / out.total_s;
    }
    return out;
}

struct rollout_time rollout_time(const struct rollout_shape *shape,
                                 const struct gang *gang, double u)
{
    assert(shape != NULL && gang != NULL);
    assert(u >= 0.0 && u < 1.0);
    struct rollout_plan plan;

    rollout_plan_init(&plan, shape, gang);
    return rollout_draw(&plan, u);
}

/* Sets the mean and the coefficient of variation of the tokens that responses still have, of
 * those that are longer than the row's.  Integrals are by trapezoids; what has no such
 * response stays as it was. */
static void fill_beyond(const struct rollout_plan *plan, int row,
                        struct rollout_shape *rest)
{
    assert(row >= 0 && row <= ROLLOUT_GRID);
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

    /* Prompts are still read: nothing is done. */
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
        fill_beyond(&plan, row, &rest);
    }
    rest.responses = fmax(1.0, left / plan.lengths.parts);
    return rest;
}
