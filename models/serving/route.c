/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * route.c - which replica a request goes to.
 *
 * Ties go to the lowest number.  Following a prefix costs a look at each open
 * replica.
 */
#include <assert.h>

#include "models/serving/prefix_cache.h"
#include "models/serving/state.h"
#include "sim/base/rng.h"

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
    struct replica *best = NULL, *calm = service_least(s);
    uint64_t most = 0, fewest = service_load(calm);
    uint32_t match = 0;

    if (request == NULL || request->prefix.count == 0)
        return calm;
    for (uint32_t i = 0; i < s->opens; i++) {
        struct replica *r = s->replica[s->open[i]];
        uint64_t load = service_load(r);
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
    return service_least(s);
}
