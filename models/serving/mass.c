/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mass.c - requests as a mass: counted by the tick, not one by one.
 *
 * For volumes beyond what can be simulated singly.  In a tick replicas either
 * keep up, and a request waits as in the steady state of its rate, or they do
 * not, or are not there yet, and what is left over is carried on (a fluid, first
 * come, first served: backlog.c).  In the steady state of passes a sample of the requests
 * is simulated one by one (sampled.c); of generation, as many requests are in a replica as
 * Little's law says, each step as long as with that many.  How far off this
 * is, tests/workloads/service_mass_test.c and the README.md here say.
 */
#include <assert.h>
#include <math.h>

#include "models/laws/compute.h"
#include "models/laws/decode.h"
#include "models/serving/serve.h"
#include "models/serving/state.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "sim/stats/tally.h"

#define SAMPLES 1e6             /* all requests of a service that has fewer, ... */
#define SAMPLE_REQUESTS 100.0   /* ... at least one request of this number */
#define ROUNDS 60               /* of a fixed point: it converges by halves */
#define DRAWS 256               /* for mean lengths */
#define KINDS_MAX 32            /* of replicas that are told apart: one of each pool */
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

struct steady {
    double batch, service_s;    /* size and time of a pass */
};

/* Returns how many of a pass's requests found the replica free, or would not have waited
 * for the delay by its end: 1, or the probability that none came in all of the pass but
 * its last delay_s. */
static double count_first(double each, double pass_s, double delay_s)
{
    assert(each >= 0.0 && pass_s > 0.0);
    return exp(-each * fmax(pass_s - delay_s, 0.0));
}

/* Passes of a replica under a rate: how much it works.  A fixed point of the batch: a pass
 * holds what came during the one before.  With a delay the next pass begins at
 * max(T, X + delay), where T is the pass and X, exponential, is when the first request
 * comes: so it holds rate x max(T, delay) + count_first(). */
static struct steady solve_passes(const struct replica *r, double each)
{
    assert(each >= 0.0);
    const struct service_spec *spec = r->service->spec;
    double most = spec->batch_max;
    double delay_s = clock_s_from_ns(spec->batch_delay_ns);
    struct steady st = { 1.0, time_batch(r, 1.0) };

    if (delay_s == 0.0 && each * st.service_s < (most > 1.0 ? 0.7 : 1.0))
        return st;
    for (int i = 0; i < ROUNDS; i++) {
        double pass_s = time_batch(r, st.batch);
        double first = delay_s > 0.0 ? count_first(each, pass_s, delay_s) : 0.0;
        double next = fmin(fmax(each * fmax(pass_s, delay_s) + first, 1.0), most);
        st.batch = (st.batch + next) / 2.0;
    }
    st.service_s = time_batch(r, st.batch);
    return st;
}

/* ---- generation --------------------------------------------------------- */

struct generating {
    double at_once;             /* requests of a replica */
    double ttft_s, tpot_s;
};

/* Seconds between two tokens of a response, `at_once` being generated. */
static double time_token(const struct replica *r, double at_once)
{
    assert(at_once >= 0.0);
    const struct serve_law *law = &r->service->spec->side[r->side].law;
    const struct service_mass *mass = &r->service->mass;

    if (r->gang.gpu == NULL)
        return serve_step_s(law, &r->gang, fmax(at_once, 1.0),
                            mass->prompt + mass->output / 2.0);
    struct decode_replica replica = { .llm = law->llm, .precision = law->precision,
                                      .gang = &r->gang, .tp = law->tp,
                                      .engine = DECODE_GRAPHS, .ahead = law->ahead };
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
                              compute_attended_tokens(
                                  r->service->spec->side[r->side].law.llm, context)));
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

/* Counts a request of the sample: its latency in seconds, the time of its first token if
 * it has tokens, and the time of each further one if it has several.  It is kept if all
 * three meet their limits. */
static void note_sample(struct service *s, const struct mass_sample *sample)
{
    assert(sample->tokens >= 0.0);
    struct service_result *result = &s->result;

    /* With those of the sample, which is counted at the end. */
    tally_add(s->mass.sampled != NULL ? &s->mass.sampled->result.latency : &result->latency,
              sample->latency_s);
    quantile_add(result->latency_q, sample->latency_s);
    if (sample->tokens > 0.0) {
        tally_add(&result->ttft, sample->ttft_s);
        quantile_add(result->ttft_q, sample->ttft_s);
        s->mass.tokens += sample->tokens;
    }
    if (sample->tokens > 1.0) {
        tally_add(&result->tpot, sample->tpot_s);
        quantile_add(result->tpot_q, sample->tpot_s);
    }
    s->mass.samples++;
    s->mass.kept += service_keeps(sample->latency_s, s->spec->latency_ns) &&
                    service_keeps(sample->ttft_s, s->spec->ttft_ns) &&
                    service_keeps(sample->tpot_s, s->spec->tpot_ns);
}

/* Replicas that are alike, and what a tick is like for what they serve. */
struct kind {
    const struct replica *replica;      /* any of them */
    uint32_t count;
    double able_per_s;                  /* of each */
    double busy;
    struct steady pass;
    struct generating answer;
};

/* A tick: its kinds of replicas, and what they serve together. */
struct tick {
    struct kind kind[KINDS_MAX];
    uint32_t kinds;
    double from_s;                      /* when it began */
    double able_per_s, served;  /* requests a second, of all kinds; in this tick */
};

/* One request of the tick, behind `before_s` of work that waits. */
static struct mass_sample draw_request(struct service *s, const struct kind *kind,
                                       double before_s)
{
    assert(kind->replica != NULL);
    const struct replica *r = kind->replica;
    struct rng *rng = &s->rng;

    if (r->batch == NULL) {     /* all work, in full batches */
        double s_each = kind->pass.service_s;
        double latency_s = before_s + s_each * (1.0 + rng_uniform(rng));
        return (struct mass_sample){ latency_s, 0.0, latency_s, 0.0 };
    }
    struct request request = { 0 };
    struct generating g = kind->answer;
    double others = fmax(1.0, g.at_once + sqrt(g.at_once) *
                                              rng_normal(rng, 0.0, 1.0));
    double step_s = time_token(r, fmin(others, count_at_once_max(r)));

    s->parts.mass->draw(s->parts.source, &request);
    double tokens = request.output_tokens;
    double first_s = before_s + step_s * rng_uniform(rng) + time_prompt(r) *
                     request.prompt_tokens / s->mass.prompt;
    return (struct mass_sample){ first_s, step_s,
                                 first_s + (tokens - 1.0) * step_s, tokens };
}

/* The kind that serves a request: by what each is able to serve. */
static const struct kind *draw_kind(struct service *s, const struct tick *tick)
{
    assert(tick->kinds > 0);
    double weight[KINDS_MAX];

    if (tick->kinds == 1)
        return &tick->kind[0];
    for (uint32_t k = 0; k < tick->kinds; k++)
        weight[k] = tick->kind[k].count * tick->kind[k].able_per_s;
    return &tick->kind[rng_pick(&s->rng, weight, tick->kinds)];
}

/* Draws one of the requests that the tick serves, and notes what it met.  Requests are served
 * in the order in which they came, so it waited until those ahead of it were served.
 * Returns true if nothing was ahead of a pass: it is to be simulated.  One that waited, and
 * came in the warm-up, does not count. */
static bool draw_sample(struct service *s, const struct tick *tick)
{
    double ahead = tick->served * rng_uniform(&s->rng);
    double came_s = service_backlog_came_s(&s->mass.backlog, ahead);
    double waited_s = fmax(0.0, tick->from_s + ahead / tick->able_per_s - came_s);

    if (waited_s <= 1e-9 && s->mass.sampled != NULL)
        return true;
    if (came_s < clock_s_from_ns(s->parts.warmup_ns))
        return false;
    if (s->spec->timeout_ns > 0)        /* nobody waits longer, to the tick */
        waited_s = fmin(waited_s, clock_s_from_ns(s->spec->timeout_ns));
    struct mass_sample sample =
        draw_request(s, draw_kind(s, tick), waited_s > 1e-9 ? waited_s : 0.0);
    note_sample(s, &sample);
    return false;
}

/* Draws one in `every` of what is served; the first of all is one. */
static void take_samples(struct service *s, const struct tick *tick)
{
    assert(tick->served >= 0.0 && s->mass.every >= 1.0);
    struct service_mass *mass = &s->mass;
    uint64_t alone = 0;

    if (!(tick->served > 0.0) ||
        (service_now(s) <= s->parts.warmup_ns && mass->sampled == NULL))
        return;
    mass->due += tick->served / mass->every;
    for (; mass->due >= 1.0; mass->due -= 1.0)
        alone += draw_sample(s, tick);
    if (alone > 0)
        mass->run(s, fmin(mass->per_s, 0.999 * tick->able_per_s), alone);
}

/* A full queue and requests that have waited too long are dropped. */
static void drop_excess(struct service *s, double now_s)
{
    struct service_mass *mass = &s->mass;

    if (s->spec->timeout_ns > 0)
        mass->dropped += service_backlog_expire(
            &mass->backlog, now_s - clock_s_from_ns(s->spec->timeout_ns));
    if (s->spec->queue_max > 0)
        mass->dropped += service_backlog_cut(
            &mass->backlog,
            (double)s->spec->queue_max * (s->opens > 0 ? s->opens : 1));
}

/* Returns the kind of a replica in this tick: replicas of one kind serve as many requests a
 * second.  Those beyond the room for kinds count as the last. */
static struct kind *find_kind(struct tick *tick, struct replica *r)
{
    if (!(r->able_per_s > 0.0))
        r->able_per_s = find_capacity(r);
    for (uint32_t k = 0; k < tick->kinds; k++)
        if (tick->kind[k].able_per_s == r->able_per_s)
            return &tick->kind[k];
    if (tick->kinds == KINDS_MAX)
        return &tick->kind[KINDS_MAX - 1];
    tick->kind[tick->kinds] = (struct kind){ .replica = r, .able_per_s = r->able_per_s };
    return &tick->kind[tick->kinds++];
}

/* The steady state of a kind, of which each has its part of the rate. */
static void solve_kind(struct kind *kind, double each)
{
    assert(kind->count > 0 && each >= 0.0);
    const struct replica *r = kind->replica;

    if (r->batch == NULL) {
        kind->pass = solve_passes(r, each);
        kind->busy = fmin(1.0, each * kind->pass.service_s / kind->pass.batch);
    } else {
        kind->answer = solve_generation(r, each);
        kind->busy = fmin(1.0, kind->answer.at_once);
    }
}

/* Lets the open replicas work for a tick: replicas that are alike share one answer of the law. */
static void serve_tick(struct service *s, double from_s, double until_s)
{
    assert(s->opens > 0);
    assert(until_s > from_s);
    struct service_mass *mass = &s->mass;
    struct tick tick = { .from_s = from_s };
    double tick_s = until_s - from_s;

    for (uint32_t i = 0; i < s->opens; i++)
        find_kind(&tick, s->replica[s->open[i]])->count++;
    for (uint32_t k = 0; k < tick.kinds; k++)
        tick.able_per_s += tick.kind[k].able_per_s * tick.kind[k].count;
    tick.served = fmin(mass->backlog.requests, tick.able_per_s * tick_s);
    mass->per_s += (tick.served / tick_s - mass->per_s) *
                   (mass->per_s > 0.0 ? SMOOTH : 1.0);
    for (uint32_t k = 0; k < tick.kinds; k++) {
        struct kind *kind = &tick.kind[k];
        double like_this = tick.able_per_s / kind->able_per_s;
        solve_kind(kind, fmin(mass->per_s / like_this, 0.999 * kind->able_per_s));
    }
    for (uint32_t k = 0; k < tick.kinds; k++)
        mass->at_work += tick.kind[k].answer.at_once * tick.kind[k].count;
    for (uint32_t i = 0; i < s->opens; i++) {
        struct replica *r = s->replica[s->open[i]];
        r->busy_s += find_kind(&tick, r)->busy * tick_s;
    }
    take_samples(s, &tick);
    if (mass->sampled != NULL)
        mass->at_work = (double)mass->sampled->in_service;
    service_backlog_take(&mass->backlog, tick.served);
    double dropped = fmin(mass->drop_due, tick.served);
    mass->drop_due -= dropped;
    mass->dropped += dropped;
    mass->served += tick.served - dropped;
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
    double now_s = clock_s_from_ns(now), from_s = clock_s_from_ns(now - tick_ns);
    uint64_t came = s->more ? s->parts.mass->count(s->parts.source, now) : 0;

    (void)arg;
    s->result.requests += came;
    if (now > s->parts.warmup_ns) {
        if (s->result.measured == 0)
            s->first_ns = now - tick_ns > s->parts.warmup_ns ? now - tick_ns
                                                              : s->parts.warmup_ns;
        s->result.measured += came;
    }
    s->seen += came;
    s->more = now < s->parts.mass->until_ns;
    service_backlog_add(&s->mass.backlog, from_s, now_s, (double)came);
    s->mass.at_work = 0.0;
    if (s->opens > 0)
        serve_tick(s, from_s, now_s);
    drop_excess(s, now_s);
    bool over = !s->more && s->mass.backlog.requests < 1.0;
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
    assert(s->mass.sampled != NULL || s->spec->side[s->mode].law.kind == SERVE_GENERATE);
    struct request request = { 0 };

    for (int i = 0; i < DRAWS; i++) {
        s->parts.mass->draw(s->parts.source, &request);
        s->mass.prompt += request.prompt_tokens / (double)DRAWS;
        s->mass.output += request.output_tokens / (double)DRAWS;
    }
    s->mass.every = fmin(fmax(s->parts.mass->expected / SAMPLES, 1.0), SAMPLE_REQUESTS);
    s->mass.due = 1.0;
    s->more = true;
    loop_at(s->parts.loop, clock_after(service_now(s), s->spec->aggregate_ns),
            LOOP_RANK_ARRIVAL, run_tick, s, 0);
}

/* Requests of the sample that are at work are answered before they are counted. */
static void end_sample(struct service *s, struct service *sampled)
{
    assert(sampled->parts.loop != s->parts.loop);
    loop_until(sampled->parts.loop, CLOCK_NEVER_NS);
    loop_run(sampled->parts.loop);
    s->result.latency = sampled->result.latency;
    s->mass.samples += sampled->result.answered;
    s->mass.kept += sampled->result.in_slo;
}

/* Requests are answered in the order in which they came: the first `early` of those that are
 * done came in the warm-up. */
void service_mass_end(struct service *s)
{
    assert(s->spec->aggregate_ns > 0);
    struct service_result *result = &s->result;
    struct service_mass *mass = &s->mass;

    result->answered = result->done > mass->early ? result->done - mass->early : 0;
    if (result->answered > result->measured)
        result->answered = result->measured;
    if (mass->sampled != NULL)
        end_sample(s, mass->sampled);
    if (mass->samples == 0)
        return;
    result->in_slo = (uint64_t)((double)result->answered * (double)mass->kept /
                                (double)mass->samples);
    result->tokens = mass->tokens / (double)mass->samples * (double)result->answered;
}
