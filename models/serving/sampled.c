/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sampled.c - a sample of a mass that is answered in passes, one request by one.
 *
 * How long a request waits for a batch beside others has no closed form where several
 * replicas share the requests by their queues.  So a service of single requests, with a
 * clock of its own, stands for the mass: it has the same replicas, and its requests come
 * at the rate of the tick.  All rules of batches, queues and routes are those of the other
 * files.  Between two ticks its clock stands still, and its queues stay.
 */
#include <assert.h>
#include <stdint.h>

#include "models/serving/service.h"
#include "models/serving/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

/* Nobody has to be asked for replicas: the mass has them. */
static void start_nothing(void *self, uint32_t replica, enum serve_side side)
{
    (void)self;
    (void)replica;
    assert(side < SERVE_SIDES);
}

static const struct service_ops no_ops = { .start = start_nothing };

static bool draw_nothing(void *source, struct request *out)
{
    (void)source;
    assert(out != NULL);
    return false;
}

/* Its latencies are counted in one quantile with those of the mass. */
static struct service *make_sample(struct service *s)
{
    assert(s->spec->aggregate_ns > 0);
    struct service_spec *spec = arena_alloc(s->parts.arena, 1, sizeof *spec);
    struct service_parts parts = s->parts;

    *spec = *s->spec;
    spec->aggregate_ns = 0;
    parts.spec = spec;
    parts.ops = &no_ops;
    parts.next = draw_nothing;
    parts.warmup_ns = CLOCK_NEVER_NS;   /* until the mass is measured */
    parts.loop = loop_new((struct loop_limits){ .until_ns = CLOCK_NEVER_NS,
                                                .event_count_max = UINT64_MAX });
    struct service *sampled = service_new(&parts);
    sampled->result.latency_q = s->result.latency_q;
    return sampled;
}

/* The replicas of the sample become those that are open to the mass.  One that was lost,
 * and is back, starts anew. */
static void copy_replicas(struct service *s, struct service *sampled)
{
    for (uint32_t i = sampled->lives; i-- > 0;) {
        struct replica *copy = sampled->replica[sampled->live[i]], *of = copy->copied;

        assert(of != NULL && copy->wanted);
        if (of->copied == copy && of->ready && !of->draining)
            continue;
        of->copied = of->copied == copy ? NULL : of->copied;
        if (!copy->draining)
            service_drain(copy);
    }
    for (uint32_t i = 0; i < s->opens; i++) {
        struct replica *r = s->replica[s->open[i]];

        if (r->copied != NULL)
            continue;
        r->copied = service_add(sampled, r->side);
        service_ready(sampled, r->copied->number, &r->gang, 0);
        r->copied->copied = r;
    }
}

/* A request comes to the sample. */
static void accept_one(struct loop *loop, void *self, uint64_t arg)
{
    struct service *sampled = self;
    struct flight flight = { .arrive_ns = loop_now_ns(loop), .prompt_tokens = 1 };

    (void)arg;
    assert(sampled->opens > 0);
    sampled->result.requests++;
    sampled->in_service++;
    service_begin_deliver(sampled);
    service_deliver(sampled, &flight, NULL);
    service_end_deliver(sampled);
}

/* So many requests come to the sample, at this rate. */
static void run_sample(struct service *s, double per_s, uint64_t requests)
{
    assert(per_s > 0.0 && s->opens > 0);
    struct service *sampled = s->mass.sampled;
    struct loop *loop = sampled->parts.loop;
    double cv = s->parts.mass->gap_cv;
    uint64_t dropped = sampled->result.dropped;

    if (service_now(s) > s->parts.warmup_ns && sampled->parts.warmup_ns == CLOCK_NEVER_NS)
        sampled->parts.warmup_ns = loop_now_ns(loop);
    copy_replicas(s, sampled);
    for (; requests > 0; requests--) {
        service_drop_expired(sampled);
        double gap_s = cv == 1.0 ? rng_exponential(&s->rng, 1.0 / per_s)
                                 : rng_gamma(&s->rng, 1.0 / (cv * cv), cv * cv / per_s);
        int64_t at_ns = clock_after(loop_now_ns(loop), clock_ns_for_work(gap_s, 1.0));

        loop_at(loop, at_ns, LOOP_RANK_ARRIVAL, accept_one, sampled, 0);
        loop_until(loop, at_ns);
        loop_run(loop);
    }
    s->mass.drop_due += (double)(sampled->result.dropped - dropped) * s->mass.every;
}

void service_sample(struct service *s)
{
    assert(s->mass.sampled == NULL && s->replicas == 0);
    if (s->spec->side[s->mode].law.kind == SERVE_GENERATE)
        return;
    s->mass.sampled = make_sample(s);
    s->mass.run = run_sample;
}
