/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mass.c - requests as a mass: counted by the tick, not one by one.
 *
 * For volumes beyond what can be simulated singly.  In a tick replicas either
 * keep up, and a request waits as in the steady state of its rate, or they do
 * not, and what is left over is carried on (a fluid).  The steady state of
 * passes is M/D/c (Erlang's C, half the wait of M/M/c) while single passes keep
 * up, and otherwise batches that hold what came during the last one, with the
 * wait of M/D/1 on top, divided by the batch; of generation, as many requests
 * in a replica as Little's law says, each step as long as with that many.
 * Quantiles come from one drawn request in SAMPLE_REQUESTS.  How far off this
 * is, tests/workloads/service_mass_test.c and the README.md here say.
 */
#include <assert.h>
#include <math.h>

#include "models/laws/decode.h"
#include "models/serving/serve.h"
#include "models/serving/state.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "sim/stats/tally.h"

#define SAMPLE_REQUESTS 100.0
#define ROUNDS 60               /* of a fixed point: it converges by halves */
#define DRAWS 256               /* for mean lengths */
#define SMOOTH 0.1              /* of a tick's rate, whose scatter is no load */

/* ---- passes ------------------------------------------------------------- */

/* Seconds of a batch of any size between 1 and the largest. */
static double time_batch(const struct replica *r, double requests)
{
    assert(requests >= 0.0);
    uint32_t most = r->service->spec->batch_max;
    uint32_t low = (uint32_t)fmin(fmax(requests, 1.0), most);
    uint32_t high = low < most ? low + 1 : low;
    double part = fmin(fmax(requests - low, 0.0), 1.0);

    return r->batch_s[low] + part * (r->batch_s[high] - r->batch_s[low]);
}

/* Probability that all of c servers are busy under a load of a erlangs. */
static double erlang_c(uint32_t c, double a)
{
    assert(c > 0);
    assert(a >= 0.0);
    double blocked = 1.0;

    if (a >= c)
        return 1.0;
    for (uint32_t k = 1; k <= c; k++)
        blocked = a * blocked / (k + a * blocked);
    return blocked / (1.0 - (a / c) * (1.0 - blocked));
}

struct steady {
    double batch, service_s;    /* size and time of a pass */
    double waits;               /* probability of waiting at all */
    double wait_s;              /* mean of those that wait */
    bool even;                  /* waits are even from 0 to twice the mean;
                                   else exponential */
    double first;               /* share that waits longest: the first of a
                                   batch, for the delay */
};

/* Steady state of replicas that answer in passes, under a rate.  A fixed point
 * of the batch: a pass holds what came during the one before. */
static struct steady solve_passes(const struct replica *r, double per_s,
                                  uint32_t replicas)
{
    assert(per_s >= 0.0);
    assert(replicas > 0);
    const struct service_spec *spec = r->service->spec;
    double most = spec->batch_max, each = per_s / replicas;
    double delay_s = clock_s_from_ns(spec->batch_delay_ns);
    double single_s = time_batch(r, 1.0), full_s = time_batch(r, most);
    double busy = each * full_s / most;
    struct steady st = { 1.0, single_s, 0.0, 0.0, false, 0.0 };

    if (delay_s == 0.0 &&
        per_s * single_s < (most > 1.0 ? 0.7 : 1.0) * replicas) {
        double load = per_s * single_s;
        st.waits = erlang_c(replicas, load);
        st.wait_s = single_s / 2.0 / (replicas - load);
        return st;
    }
    for (int i = 0; i < ROUNDS; i++) {
        double came = each * fmax(time_batch(r, st.batch), delay_s);
        double next = fmin(fmax(delay_s > 0.0 ? 1.0 + came : came, 1.0), most);
        st.batch = (st.batch + next) / 2.0;
    }
    st.service_s = time_batch(r, st.batch);
    st.waits = 1.0;
    st.even = true;
    double fill_s = fmin(delay_s, most / fmax(each, 1e-9));
    st.wait_s = fmax(st.service_s, fill_s) / 2.0;
    if (fill_s > st.service_s)
        st.first = 1.0 / st.batch;
    if (busy < 1.0)
        st.wait_s += busy * busy * full_s / (2.0 * (1.0 - busy) * most);
    return st;
}

/* ---- generation --------------------------------------------------------- */

struct generating {
    double at_once;             /* requests of a replica */
    double ttft_s, tpot_s;
};

/* Seconds between two tokens of a response, with so many at once. */
static double time_token(const struct replica *r, double at_once)
{
    assert(at_once >= 0.0);
    const struct serve_law *law = &r->service->spec->side[r->side].law;
    const struct service_mass *mass = &r->service->mass;

    if (r->gang.gpu == NULL)
        return serve_step_s(law, &r->gang, fmax(at_once, 1.0),
                            mass->prompt + mass->output / 2.0);
    struct decode_replica replica = { law->llm, law->precision, &r->gang,
                                      law->tp, DECODE_GRAPHS };
    return decode_served_step_s(&replica, fmax(at_once, 1.0), mass->prompt,
                                fmax(mass->output, 1.0));
}

static double time_prompt(const struct replica *r)
{
    return serve_prefill_s(&r->service->spec->side[r->side].law, &r->gang,
                           1.0, r->service->mass.prompt);
}

/* Requests that fit into a replica: its batch, and its KV cache at their mean
 * context. */
static double count_at_once_max(const struct replica *r)
{
    const struct service_mass *mass = &r->service->mass;
    double context = mass->prompt + mass->output / 2.0;

    return fmin(r->service->spec->batch_max,
                fmax(1.0, (double)r->blocks_max * SERVE_BLOCK_TOKENS /
                              context));
}

/* Steady state of a replica that generates: by Little's law as many at once as
 * come during the time that each takes. */
static struct generating solve_generation(const struct replica *r, double each)
{
    assert(each >= 0.0);
    const struct service_mass *mass = &r->service->mass;
    double most = count_at_once_max(r);
    struct generating g = { 1.0, 0.0, 0.0 };

    for (int i = 0; i < ROUNDS; i++) {
        g.tpot_s = time_token(r, g.at_once);
        g.ttft_s = time_prompt(r) + g.tpot_s / 2.0;
        double held = each * (g.ttft_s + (mass->output - 1.0) * g.tpot_s);
        g.at_once = (g.at_once + fmin(held, most)) / 2.0;
    }
    return g;
}

/* Requests a second that a replica answers at most. */
static double find_capacity(const struct replica *r)
{
    const struct service_mass *mass = &r->service->mass;
    double most = r->service->spec->batch_max;

    if (r->batch == NULL)
        return most / time_batch(r, most);
    most = count_at_once_max(r);
    return most / (time_prompt(r) + mass->output * time_token(r, most));
}

/* ---- a tick ------------------------------------------------------------- */

/* One drawn request stands for SAMPLE_REQUESTS. */
static void note_sample(struct service *s, double ttft, double tpot,
                        double latency, double tokens)
{
    assert(tokens >= 0.0);
    struct service_result *result = &s->result;

    tally_add(&result->latency, latency);
    quantile_add(result->latency_q, latency);
    if (tokens > 0.0) {
        tally_add(&result->ttft, ttft);
        quantile_add(result->ttft_q, ttft);
        result->tokens += tokens * SAMPLE_REQUESTS;
    }
    if (tokens > 1.0) {
        tally_add(&result->tpot, tpot);
        quantile_add(result->tpot_q, tpot);
    }
    s->mass.samples++;
    s->mass.kept += service_keeps(latency, s->spec->latency_ns) &&
                    service_keeps(ttft, s->spec->ttft_ns) &&
                    service_keeps(tpot, s->spec->tpot_ns);
}

/* What a tick is like for those that come in it. */
struct state {
    const struct replica *replica;      /* any that works */
    struct steady pass;
    struct generating answer;
};

/* One request of the tick, behind `before_s` of work that waits. */
static void sample_request(struct service *s, const struct state *state,
                           double before_s)
{
    assert(state->replica != NULL);
    const struct replica *r = state->replica;
    struct rng *rng = &s->rng;

    if (r->batch == NULL) {
        struct steady st = state->pass;
        double wait_s = before_s;

        if (before_s > 0.0)     /* all work, in full batches */
            wait_s += st.service_s * rng_uniform(rng);
        else if (rng_uniform(rng) < st.first)
            wait_s += 2.0 * st.wait_s;
        else if (rng_uniform(rng) < st.waits)
            wait_s += st.even ? 2.0 * st.wait_s * rng_uniform(rng)
                              : rng_exponential(rng, st.wait_s);
        note_sample(s, wait_s + st.service_s, 0.0, wait_s + st.service_s,
                    0.0);
        return;
    }
    struct request request = { 0 };
    struct generating g = state->answer;
    double others = fmax(1.0, g.at_once + sqrt(g.at_once) *
                                              rng_normal(rng, 0.0, 1.0));
    double step_s = time_token(r, fmin(others, count_at_once_max(r)));

    s->parts.mass->draw(s->parts.source, &request);
    double tokens = request.output_tokens;
    double first_s = before_s + step_s * rng_uniform(rng) + time_prompt(r) *
                     request.prompt_tokens / s->mass.prompt;
    note_sample(s, first_s, step_s, first_s + (tokens - 1.0) * step_s,
                tokens);
}

/* Draws requests of a tick, spread over the work that waits before and after
 * it. */
static void take_samples(struct service *s, const struct state *state,
                         double served, double left_before, double able)
{
    assert(served >= 0.0);
    assert(left_before >= 0.0);
    double due = s->mass.due + served / SAMPLE_REQUESTS;
    double from_s = left_before / able, to_s = s->mass.waiting / able;

    if (service_now(s) <= s->parts.warmup_ns)
        return;
    for (; due >= 1.0; due -= 1.0)
        sample_request(s, state,
                       from_s + (to_s - from_s) * rng_uniform(&s->rng));
    s->mass.due = due;
}

/* A full queue and requests that have waited too long are dropped. */
static void drop_excess(struct service *s)
{
    assert(s->mass.waiting >= 0.0);
    double most = INFINITY;

    if (s->spec->queue_max > 0)
        most = (double)s->spec->queue_max * (s->opens > 0 ? s->opens : 1);
    if (s->spec->timeout_ns > 0 && s->opens > 0)
        most = fmin(most, clock_s_from_ns(s->spec->timeout_ns) * s->opens *
                              find_capacity(s->replica[s->open[0]]));
    if (s->mass.waiting <= most)
        return;
    s->mass.dropped += s->mass.waiting - most;
    s->mass.waiting = most;
}

/* Work of the replicas that are there for a tick. */
static void serve_tick(struct service *s, double tick_s)
{
    assert(s->opens > 0);
    assert(tick_s > 0.0);
    struct replica *r = s->replica[s->open[0]];
    double able = find_capacity(r) * s->opens, before = s->mass.waiting;
    double offered = s->mass.waiting + s->mass.arrived;
    double served = fmin(offered, able * tick_s);
    struct state state = { .replica = r };
    double busy, each;

    s->mass.per_s += (served / tick_s - s->mass.per_s) *
                     (s->mass.per_s > 0.0 ? SMOOTH : 1.0);
    each = fmin(s->mass.per_s / s->opens, 0.999 * find_capacity(r));
    s->mass.waiting = offered - served;
    drop_excess(s);
    if (r->batch == NULL) {
        state.pass = solve_passes(r, each * s->opens, s->opens);
        busy = fmin(1.0, each * state.pass.service_s / state.pass.batch);
    } else {
        state.answer = solve_generation(r, each);
        busy = fmin(1.0, state.answer.at_once);
    }
    for (uint32_t i = 0; i < s->opens; i++)
        s->replica[s->open[i]]->busy_s += busy * tick_s;
    take_samples(s, &state, served, before, able);
    s->mass.served += served;
}

/* Whole requests: what was served and dropped so far, rounded down. */
static void count_done(struct service *s, bool last)
{
    uint64_t done = (uint64_t)(s->mass.served + (last ? 0.5 : 0.0));
    uint64_t dropped = (uint64_t)s->mass.dropped;

    if (done + dropped > s->result.requests)
        done = s->result.requests - dropped;
    s->result.done = done;
    s->result.dropped = dropped;
    s->in_service = s->result.requests - done - dropped;
    s->last_ns = service_now(s);
}

/* One tick: counts what came, serves what the replicas can, drops the rest by
 * the service's own limits. */
static void run_tick(struct loop *loop, void *self, uint64_t arg)
{
    assert(self != NULL);
    struct service *s = self;
    int64_t now = loop_now_ns(loop), tick_ns = s->spec->aggregate_ns;
    uint64_t came = s->more ? s->parts.mass->count(s->parts.source, now) : 0;

    (void)arg;
    s->result.requests += came;
    if (now > s->parts.warmup_ns)
        s->result.measured += came;
    s->seen += came;
    s->mass.arrived = (double)came;
    s->more = now < s->parts.mass->until_ns;
    if (s->opens > 0)
        serve_tick(s, clock_s_from_ns(tick_ns));
    else
        s->mass.waiting += s->mass.arrived;
    if (s->opens == 0)
        drop_excess(s);
    bool over = !s->more && s->mass.waiting < 1.0;
    count_done(s, over);
    if (now <= s->parts.warmup_ns)
        s->mass.early = s->result.requests - s->result.dropped;
    if (over)
        s->in_service = 0, s->result.done = s->result.requests -
                                            s->result.dropped;
    else
        loop_at(loop, clock_after(now, tick_ns), LOOP_RANK_ARRIVAL, run_tick, s,
                0);
}

/* Mean lengths are those of DRAWS requests, drawn before the first tick. */
void service_mass_begin(struct service *s)
{
    assert(s->parts.mass != NULL);
    assert(s->spec->aggregate_ns > 0);
    struct request request = { 0 };

    for (int i = 0; i < DRAWS; i++) {
        s->parts.mass->draw(s->parts.source, &request);
        s->mass.prompt += request.prompt_tokens / (double)DRAWS;
        s->mass.output += request.output_tokens / (double)DRAWS;
    }
    s->more = true;
    s->first_ns = s->parts.warmup_ns;
    loop_at(s->parts.loop, clock_after(service_now(s), s->spec->aggregate_ns),
            LOOP_RANK_ARRIVAL, run_tick, s, 0);
}
