/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request_source.c - draws the requests to a service, or takes them from its trace.
 *
 * Requests of a service come from streams of its own, seeded by its name:
 * another service beside it moves none of them.
 */
#include "workloads/requests/request_source.h"

#include <assert.h>
#include <math.h>

#include "models/serving/request.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "workloads/random/arrival.h"
#include "workloads/random/distribution.h"
#include "workloads/requests/request_trace.h"
#include "workloads/requests/services.h"

#define TOKENS_MAX 1e7          /* what draws are cut to; of one prompt or output */

/* The streams of one service.  Lengths and prefixes have streams of their own,
 * so that a key of one does not change what is drawn for the other. */
struct request_source {
    const struct service_entry *entry;  /* of the workload */
    struct arrival_clock clock; /* when the next request comes */
    struct rng lengths, prefixes;
    uint64_t prefix;                    /* of the last request */
    struct request_trace *trace;        /* NULL: drawn */
};

struct request_source *request_source_open(struct arena *arena,
                                           const struct service_entry *entry,
                                           uint64_t seed, uint32_t replica)
{
    struct request_source *source = arena_alloc(arena, 1, sizeof *source);
    /* Streams of its own, whatever other services there are. */
    uint64_t own = seed ^ rng_hash_text(entry->spec.name);

    source->entry = entry;
    if (entry->trace != NULL) {
        source->trace = request_trace_open(arena, entry->trace);
        return source;
    }
    arrival_start(&source->clock, &entry->arrival, own, replica);
    rng_init(&source->lengths, own, "requests", replica);
    rng_init(&source->prefixes, own, "prefixes", replica);
    return source;
}

void request_source_close(struct request_source *source)
{
    if (source != NULL)
        request_trace_close(source->trace);
}

bool request_source_verdict(const struct request_source *source,
                            struct err *err)
{
    return source->trace == NULL ||
           request_trace_verdict(source->trace, err);
}

/* Draws a whole number of tokens from 1 to TOKENS_MAX. What is not a number
 * becomes 1. */
static uint32_t draw_tokens(const struct distribution *d, struct rng *rng)
{
    double tokens = round(distribution_draw(d, rng));

    if (!(tokens >= 1.0))
        return 1;
    return tokens < TOKENS_MAX ? (uint32_t)tokens : (uint32_t)TOKENS_MAX;
}

/* Draws the beginning of a prompt: 0 to prefix_count - 1, by its weight.  It is
 * found by bisection in the sums of the weights.  The result points to
 * source->prefix, which the next draw overwrites. */
static struct prefix draw_prefix(struct request_source *source)
{
    const struct service_entry *entry = source->entry;
    uint32_t low = 0, high = entry->prefix_count - 1;
    double at = rng_uniform(&source->prefixes) * entry->prefix_below[high];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (entry->prefix_below[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    source->prefix = low;
    return (struct prefix){&source->prefix, 1, entry->prefix_tokens};
}

/* The prompt is drawn before the output: the order is part of what a seed
 * means.  A service that does not generate draws no output, which stays 0. */
static void draw_lengths(struct request_source *source, struct request *out)
{
    const struct service_entry *entry = source->entry;

    out->prompt_tokens = draw_tokens(&entry->prompt, &source->lengths);
    out->output_tokens = entry->generates
                       ? draw_tokens(&entry->output, &source->lengths) : 0;
}

/* Counts the requests up to an instant without drawing their lengths.  The end
 * of the service (`for`) also ends the count. */
uint64_t request_source_count(void *self, int64_t until_ns)
{
    struct request_source *source = self;
    int64_t end_ns = source->entry->for_ns;

    return arrival_count(&source->clock,
                         until_ns < end_ns ? until_ns : end_ns);
}

/* 0 for a trace: services of a mass of requests have none. */
double request_source_expected(const struct request_source *source)
{
    const struct service_entry *entry = source->entry;

    assert(entry->for_ns > 0);
    return entry->trace != NULL ? 0.0 : arrival_expected(&entry->arrival, entry->for_ns);
}

/* Coefficient of variation of the gaps between requests; 1 is that of a Poisson
 * process.  Processes whose rate changes count as 1 too. */
double request_source_gap_cv(const struct request_source *source)
{
    const struct arrival *arrival = &source->entry->arrival;

    assert(arrival->process < ARRIVAL_PROCESS_COUNT);
    return arrival->process == ARRIVAL_GAMMA ? arrival->cv : 1.0;
}

/* A request without an instant, for services that count requests instead of
 * simulating each. */
void request_source_draw(void *self, struct request *out)
{
    *out = (struct request){0};
    draw_lengths(self, out);
}

/* A drawn request that would come at or after the end (`for`) is not given, and
 * ends the stream. */
bool request_source_next(void *self, struct request *out)
{
    struct request_source *source = self;
    const struct service_entry *entry = source->entry;

    *out = (struct request){0};
    if (source->trace != NULL)
        return request_trace_next(source->trace, out) &&
               out->arrive_ns < entry->for_ns;
    out->arrive_ns = arrival_next(&source->clock);
    if (out->arrive_ns >= entry->for_ns)
        return false;
    draw_lengths(source, out);
    if (entry->prefix_count > 0)
        out->prefix = draw_prefix(source);
    return true;
}
