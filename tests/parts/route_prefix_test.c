/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * route_prefix_test.c - which replica a request goes to by each rule, beside the rule in words:
 * replicas with loads and caches by lot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/serving/prefix_cache.h"
#include "models/serving/state.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"

#define REPLICAS 6u
#define BLOCKS 8u
#define BLOCK_TOKENS 16u

struct fleet {
    struct service service;
    struct service_spec spec;
    struct replica replica[REPLICAS], *by_number[REPLICAS];
    uint32_t open[REPLICAS], known[REPLICAS];   /* known: blocks of the beginning */
    struct arena *arena;
};

/* Loads are even or not; each cache has some first blocks of the beginning, or another one's. */
static void draw_fleet(struct fleet *f, struct rng *rng, const uint64_t *block)
{
    static const uint64_t other[] = { 901, 902, 903 };
    uint64_t spread = rng_below(rng, 2) ? 3 : 40;

    memset(f, 0, sizeof *f);
    f->arena = arena_new(1 << 12);
    f->spec.route = SERVE_PREFIX;
    f->service = (struct service){ .spec = &f->spec, .replica = f->by_number, .open = f->open,
                                   .replicas = REPLICAS, .lives = REPLICAS,
                                   .opens = 1 + (uint32_t)rng_below(rng, REPLICAS) };
    f->service.parts.arena = f->arena;
    for (uint32_t i = 0; i < REPLICAS; i++) {
        struct replica *r = &f->replica[i];
        f->by_number[i] = r;
        f->open[i] = i;
        f->known[i] = (uint32_t)rng_below(rng, BLOCKS + 1);
        *r = (struct replica){ .service = &f->service, .number = i, .wanted = true, .ready = true,
                               .queue.count = (uint32_t)rng_below(rng, spread) };
        if (i % 5 == 4)
            continue;               /* without a cache */
        r->cache = prefix_cache_new(f->arena, 4096);
        prefix_cache_use(r->cache, &(struct prefix){ other, 3, BLOCK_TOKENS });
        if (f->known[i] > 0)
            prefix_cache_use(r->cache, &(struct prefix){ block, f->known[i], BLOCK_TOKENS });
    }
    service_note_open(&f->service);
}

/* The first of those with the least load; or the first of those that know most, if that is half
 * of the prompt and no load exceeds the least by more than 32. */
static const struct replica *plain_route(const struct fleet *f, uint32_t blocks,
                                         uint32_t prompt_tokens)
{
    const struct replica *calm = &f->replica[0], *best = NULL;
    uint32_t most = 0, match = 0;

    for (uint32_t i = 0; i < f->service.opens; i++) {
        const struct replica *r = &f->replica[i];
        uint32_t known = r->cache == NULL ? 0 : f->known[i] < blocks ? f->known[i] : blocks;
        calm = r->queue.count < calm->queue.count ? r : calm;
        most = r->queue.count > most ? r->queue.count : most;
        if (known > match) {
            match = known;
            best = r;
        }
    }
    bool even = most - calm->queue.count <= 32;
    return even && best != NULL && 2 * match * BLOCK_TOKENS >= prompt_tokens ? best : calm;
}

static void a_beginning_is_followed_where_loads_are_even(void **state)
{
    uint64_t block[BLOCKS];
    uint32_t followed = 0, calm = 0;

    (void)state;
    for (uint32_t i = 0; i < BLOCKS; i++)
        block[i] = 100 + i;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        struct fleet f;
        struct rng rng;

        rng_init(&rng, seed, "prefix route", 0);
        draw_fleet(&f, &rng, block);
        struct request request = {
            .prompt_tokens = 16 * (1 + (uint32_t)rng_below(&rng, 16)),
            .prefix = { block, (uint32_t)rng_below(&rng, BLOCKS + 1), BLOCK_TOKENS },
        };
        const struct replica *plain = plain_route(&f, request.prefix.count,
                                                  request.prompt_tokens);
        assert_ptr_equal(service_route(&f.service, &request), plain);
        followed += plain != service_least(&f.service);
        calm += plain == service_least(&f.service);
        /* Whose beginning is not known any more. */
        assert_ptr_equal(service_route(&f.service, NULL), service_least(&f.service));
        arena_free(f.arena);
    }
    assert_true(followed > 400 && calm > 400);
}

static void turns_go_round_and_nobody_answers_where_none_is_open(void **state)
{
    struct fleet f;
    struct rng rng;
    const uint64_t block[BLOCKS] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    uint32_t drawn[REPLICAS] = { 0 };

    (void)state;
    rng_init(&rng, 5, "turns", 0);
    draw_fleet(&f, &rng, block);
    f.service.opens = 4;
    service_note_open(&f.service);
    f.spec.route = SERVE_ROUND_ROBIN;
    for (uint32_t i = 0; i < 12; i++)
        assert_ptr_equal(service_route(&f.service, NULL), &f.replica[i % 4]);
    f.spec.route = SERVE_RANDOM;
    rng_init(&f.service.rng, 1, "random", 0);
    for (uint32_t i = 0; i < 8000; i++)
        drawn[service_route(&f.service, NULL)->number]++;
    for (uint32_t i = 0; i < REPLICAS; i++)     /* 2000 of each, give or take five deviations */
        assert_true(i < 4 ? drawn[i] > 1800 && drawn[i] < 2200 : drawn[i] == 0);
    f.service.opens = 0;
    assert_null(service_route(&f.service, NULL));
    arena_free(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_beginning_is_followed_where_loads_are_even),
        cmocka_unit_test(turns_go_round_and_nobody_answers_where_none_is_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
