/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fewest.c - finds the fewest replicas by simulation: their number is doubled, then halved,
 * since more replicas never answer later.
 *
 * Where the rate is so high that a window has more than REQUESTS_MOST requests, the
 * rate is divided into equal slices, and one slice is simulated.  The answer is then
 * on the safe side: each slice has whole replicas of its own, which one large pool
 * would share.  There are never more slices than there may be replicas; a slice is then
 * larger.
 *
 * An example.  3 replicas are too few for full batches to keep up.  4 fail, 8 keep the promise;
 * then 6 is tried and keeps it, and 5 fails: the answer is 6.
 */
#include "experiments/advise/fewest.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/serving/service.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"
#include "sim/stats/tally.h"
#include "workloads/random/distribution.h"
#include "workloads/requests/request_source.h"
#include "workloads/requests/services.h"
#include "workloads/source.h"

/* Some seconds of simulation. */
#define REQUESTS_MOST 150000.0
#define SLICE_MOST (8 * REQUESTS_MOST)  /* of a slice, where replicas are few */
#define WINDOW_LATENCIES 100.0  /* as many promised latencies as it lasts: a
                                   queue that grows by 1% of the time of an
                                   answer in each is seen */

/* What the service's callback needs. */
struct simulation {
    const struct advise_replica *replica;   /* what each of its replicas is */
    struct service *service;
};

/* Called by the service when it wants a replica: it is ready at once. */
static void start_replica(void *self, uint32_t number, enum serve_side side)
{
    const struct simulation *s = self;

    (void)side;
    service_ready(s->service, number, &s->replica->gang,
                  s->replica->host_bytes);
}

/* Returns a service whose requests come at per_s a second, by a Poisson
 * process; requests of a file keep their times. */
static struct service_entry make_entry(const struct advise_service *service,
                                       double per_s, double requests)
{
    struct service_entry entry = *service->entry;

    if (entry.trace != NULL || service->peak_per_s <= 0.0)
        return entry;
    entry.arrival = (struct arrival){ .process = ARRIVAL_POISSON,
                                      .rate_per_s = per_s };
    entry.for_ns = clock_ns_for_work(requests / per_s, 1.0);
    return entry;
}

/* Returns the spec of a service with a fixed number of replicas of one kind.
 * Its scaling never acts. */
static struct service_spec make_spec(const struct advise_replica *c,
                                     uint32_t replicas)
{
    static const struct job_form form;  /* there must be one; nobody looks */
    struct service_spec spec = c->service->entry->spec;

    memset(spec.side, 0, sizeof spec.side);
    spec.side[c->side] = (struct serve_side_spec){
        .form = &form, .law = c->law, .min = replicas, .max = replicas };
    spec.scaling = (struct serve_scaling){ SERVE_RATE, 1e12,
                                           INT64_C(3600000000000), 0 };
    return spec;
}

/* Fills the row with the numbers of a simulation.  Shares are of requests after
 * the warm-up, a tenth of the window. */
static void note_result(const struct service_result *r, uint32_t replicas,
                        double for_s, struct advise_service_row *row)
{
    double worked = 0.0;

    for (int side = 0; side < SERVE_SIDES; side++)
        worked += r->side[side].busy_s;
    row->replicas = replicas;
    row->attained = r->measured > 0
                        ? (double)r->in_slo / (double)r->measured : 0.0;
    row->ttft_p99_s = quantile_at(r->ttft_q, 0.99);
    row->tpot_p99_s = quantile_at(r->tpot_q, 0.99);
    row->latency_p99_s = quantile_at(r->latency_q, 0.99);
    row->alone_s = r->latency.mean;
    row->busy_fraction = fmin(1.0, worked / replicas / for_s);
}

/* Simulates one number of replicas.  One seed is enough, as the window is long;
 * and the search needs one stream of requests for all numbers, so that more
 * replicas never do worse. */
static void simulate_replicas(const struct advise_replica *c, double per_s,
                              double requests, uint32_t replicas,
                              struct advise_service_row *row)
{
    struct arena *arena = arena_new((size_t)1 << 18);
    struct loop *loop =
        loop_new((struct loop_limits){ INT64_MAX, UINT64_MAX, NULL });
    struct service_entry entry = make_entry(c->service, per_s, requests);
    struct request_source *source = request_source_open(arena, &entry, 1, 0);
    struct service_spec spec = make_spec(c, replicas);
    struct simulation s = { .replica = c };
    struct service_ops ops = { .start = start_replica, .self = &s };
    struct service_parts parts = { arena, loop, &spec, &ops,
                                   request_source_next, source, 1,
                                   entry.for_ns / 10, NULL };

    s.service = service_new(&parts);
    service_begin(s.service);
    loop_run(loop);
    note_result(service_close(s.service), replicas,
                clock_s_from_ns(entry.for_ns), row);
    service_free(s.service);
    request_source_close(source);
    loop_free(loop);
    arena_free(arena);
}

/* Returns how long one whole answer may take, in s: as promised, or from the
 * promises for the first and the following tokens. */
static double promised_s(const struct service_entry *entry)
{
    const struct service_spec *spec = &entry->spec;
    double output = entry->generates ? distribution_clamped_mean(&entry->output) : 1;

    if (spec->latency_ns > 0)
        return clock_s_from_ns(spec->latency_ns);
    return clock_s_from_ns(spec->ttft_ns) +
           fmax(1.0, output) * clock_s_from_ns(spec->tpot_ns);
}

/* What is simulated: one of `slices` equal parts of the rate, in requests/s, and how many
 * requests of it. */
struct window { double per_s, requests; uint32_t slices; };

/* Returns the seconds of a full batch; 0: nothing is known, as of what is generated
 * token by token. */
static double full_batch_s(const struct advise_replica *c)
{
    return c->law.kind == SERVE_GENERATE
               ? 0.0 : serve_batch_s(&c->law, &c->gang, c->service->entry->spec.batch_max);
}

/* Chooses how many requests are simulated.  The window must be long against an
 * answer, or a queue that grows slowly would not be seen in it.  Where full
 * batches are known to keep up (count_too_few()), no queue grows, and a window
 * that is long against a batch is enough.  most: replicas that there may be. */
static struct window choose_window(const struct advise_replica *c, uint32_t most)
{
    const struct advise_service *service = c->service;
    struct window w = { service->peak_per_s, ADVISE_REQUESTS_LEAST, 1 };
    double lasting = WINDOW_LATENCIES * promised_s(service->entry) *
                     service->peak_per_s;
    double batches = WINDOW_LATENCIES * full_batch_s(c) * service->peak_per_s;

    w.requests = fmax(w.requests, lasting);
    if (w.requests > REQUESTS_MOST && batches > 0.0)
        w.requests = fmin(w.requests, fmax(REQUESTS_MOST, batches));
    if (w.requests > REQUESTS_MOST) {
        w.slices = (uint32_t)fmin(most, ceil(w.requests / REQUESTS_MOST));
        w.per_s /= w.slices;
        w.requests = fmax(REQUESTS_MOST, fmin(w.requests / w.slices, SLICE_MOST));
    }
    return w;
}

/* Is the latency kept by as large a share of requests as advice asks for? */
static bool keeps_promise(const struct advise_service_row *row)
{
    return row->attained >= ADVISE_ATTAINED;
}

/* Returns a number of replicas that is too few, whatever is promised: full batches
 * would not keep up. 0: nothing is known. */
static uint32_t count_too_few(const struct advise_replica *c, double per_s)
{
    uint32_t batch = c->service->entry->spec.batch_max;

    return per_s > 0.0 ? (uint32_t)fmin(1e6, per_s * full_batch_s(c) / batch) : 0;
}

/* Doubles from one above what is too few, then halves between the last failure and
 * the first success.  Invariant: `low` fails (or is too few), `high` keeps the
 * promise.  If `most` fail, one request alone is timed, to tell whether the
 * promise can be kept at all. */
void advise_fewest(const struct advise_replica *replica, uint32_t most,
                   struct advise_service_row *row)
{
    struct window w = choose_window(replica, most);
    struct advise_service_row tried = *row;
    uint32_t low = count_too_few(replica, w.per_s), high;

    row->most = tried.most = most;
    assert(w.slices >= 1 && w.slices <= most);
    /* One slice of the rate is simulated on a slice of the replicas: all counts are of one
     * slice. */
    most /= w.slices;
    low = low < most ? low : most - 1;
    high = low + 1;
    for (;; high = 2 * high < most ? 2 * high : most) {
        simulate_replicas(replica, w.per_s, w.requests, high, &tried);
        if (keeps_promise(&tried) || high == most)
            break;
        low = high;
    }
    if (!keeps_promise(&tried)) {
        /* 50 requests, each alone: 11 days lie between two of them. */
        simulate_replicas(replica, 1e-6, 50, 1, &tried);
        tried.replicas = 0;
        *row = tried;
        return;
    }
    *row = tried;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        simulate_replicas(replica, w.per_s, w.requests, middle, &tried);
        if (keeps_promise(&tried)) {
            high = middle;
            *row = tried;
        } else {
            low = middle;
        }
    }
    row->replicas = high * w.slices;
}
