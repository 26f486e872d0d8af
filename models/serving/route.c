/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * route.c - which replica a request goes to.
 *
 * Looking for the least costs one look per open replica; ties go to the lowest
 * number.
 */
#include <assert.h>

#include "models/serving/prefix_cache.h"
#include "models/serving/state.h"
#include "sim/base/rng.h"

/* What a replica has to do: tokens where they are known and asked for, else
 * requests. */
static uint64_t load_of(const struct replica *r, enum serve_route route)
{
    assert(r->ready);
    if (route == SERVE_LEAST_LOADED && r->load_tokens > 0)
        return r->load_tokens;
    return r->queue.count + (r->batch != NULL ? r->at_work : 0);
}

/* The least loaded open replica, the first of equals. */
static struct replica *find_least(struct service *s)
{
    assert(s->opens > 0);
    struct replica *best = s->replica[s->open[0]];

    for (uint32_t i = 1; i < s->opens; i++) {
        struct replica *r = s->replica[s->open[i]];
        if (load_of(r, s->spec->route) < load_of(best, s->spec->route))
            best = r;
    }
    return best;
}

/* The rule of SGLang's router, with its default figures: balance first where
 * loads differ by more than 32 requests, else follow a beginning of which half
 * the prompt is known, else take the one with the least to do. */
#define BALANCE_REQUESTS 32u
#define MATCH_SHARE 0.5

/* The replica that knows most of the prefix; the least loaded one if the match
 * is short, or if loads are too uneven. */
static struct replica *find_by_prefix(struct service *s,
                                      const struct request *request)
{
    assert(s->opens > 0);
    struct replica *best = NULL, *calm = find_least(s);
    uint64_t most = 0, fewest = load_of(calm, s->spec->route);
    uint32_t match = 0;

    if (request == NULL || request->prefix.count == 0)
        return calm;
    for (uint32_t i = 0; i < s->opens; i++) {
        struct replica *r = s->replica[s->open[i]];
        uint64_t load = load_of(r, s->spec->route);
        uint32_t known = r->cache != NULL
            ? prefix_cache_match(r->cache, &request->prefix) : 0;

        most = load > most ? load : most;
        if (known > match) {
            match = known;
            best = r;
        }
    }
    if (best == NULL || most > fewest + BALANCE_REQUESTS ||
        match < MATCH_SHARE * request->prompt_tokens)
        return calm;
    return best;
}

struct replica *service_route(struct service *s,
                              const struct request *request)
{
    assert(s->opens <= s->lives);
    if (s->opens == 0)
        return NULL;
    switch (s->spec->route) {
    case SERVE_ROUND_ROBIN:
        return s->replica[s->open[s->turn++ % s->opens]];
    case SERVE_RANDOM:
        return s->replica[s->open[rng_below(&s->rng, s->opens)]];
    case SERVE_PREFIX:
        return find_by_prefix(s, request);
    case SERVE_SHORTEST_QUEUE:
    case SERVE_LEAST_LOADED:
        break;
    }
    return find_least(s);
}
