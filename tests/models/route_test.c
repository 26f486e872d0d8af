/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * route_test.c - the replica with the least to do, against a look at each, in random
 * services whose replicas come, go and are lost; a queue against one that is sorted plainly;
 * requests that give up, and a mass that waits, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/serving/flight_queue.h"
#include "models/serving/state.h"
#include "models/types/gang.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

#define REQUESTS 4000u

struct world {
    struct arena *arena;
    struct loop *loop;
    struct service *service;
    struct service_spec spec;
    struct gang gang;
    struct rng rng;
    double now_s, gap_s;
    int64_t unit_ns;            /* what comes and goes takes times like this */
    uint32_t left, looks, ties;
    bool generates;
};

/* The definition: the first of those that have the least. */
static const struct replica *look_at_each(struct world *w)
{
    const struct service *s = w->service;
    const struct replica *best = NULL;
    uint64_t least = 0;

    for (uint32_t i = 0; i < s->replicas; i++) {
        const struct replica *r = s->replica[i];
        if (!r->wanted || !r->ready || r->draining)
            continue;
        uint64_t has = r->queue.count + (w->generates ? r->at_work : 0);
        if (s->spec->route == SERVE_LEAST_LOADED && r->load_tokens > 0)
            has = r->load_tokens;
        w->ties += best != NULL && has == least;
        if (best == NULL || has < least) {
            best = r;
            least = has;
        }
    }
    return best;
}

static void look(struct world *w)
{
    if (w->service->opens == 0)
        return;
    w->looks++;
    assert_ptr_equal(service_least(w->service), look_at_each(w));
}

static bool give_request(void *self, struct request *out)
{
    struct world *w = self;

    if (w->service != NULL)
        look(w);
    if (w->left-- == 0)
        return false;
    w->now_s += rng_exponential(&w->rng, w->gap_s);
    *out = (struct request) {
        .arrive_ns = (int64_t)(w->now_s * 1e9),
        .prompt_tokens = 1 + (uint32_t)rng_below(&w->rng, 600),
        .output_tokens = w->generates ? 1 + (uint32_t)rng_below(&w->rng, 300) : 0,
    };
    return true;
}

static void make_ready(struct loop *loop, void *self, uint64_t replica)
{
    struct world *w = self;

    (void)loop;
    service_ready(w->service, (uint32_t)replica, &w->gang, 0);
    look(w);
}

static void lose(struct loop *loop, void *self, uint64_t replica)
{
    struct world *w = self;

    service_lost(w->service, (uint32_t)replica);
    look(w);
    loop_at(loop, clock_after(loop_now_ns(loop), w->unit_ns / 2), LOOP_RANK_OUTAGE,
            make_ready, w, replica);
}

static int64_t some_time(struct world *w)
{
    return (int64_t)rng_below(&w->rng, (uint64_t)w->unit_ns);
}

static void start_soon(void *self, uint32_t replica, enum serve_side side)
{
    struct world *w = self;
    int64_t now_ns = loop_now_ns(w->loop);

    (void)side;
    loop_at(w->loop, clock_after(now_ns, some_time(w) / 3),
            LOOP_RANK_OUTAGE, make_ready, w, replica);
    if (rng_below(&w->rng, 3) == 0)
        loop_at(w->loop, clock_after(now_ns, w->unit_ns + 9 * some_time(w)),
                LOOP_RANK_OUTAGE, lose, w, replica);
}

static void serve_random(uint64_t seed, enum serve_route route, bool generates,
                         uint32_t replicas)
{
    static const char some = 0;
    struct err err = { 0 };
    struct world w = { .arena = arena_new(1 << 20), .left = REQUESTS,
                       .generates = generates,
                       .unit_ns = generates ? CLOCK_NS_PER_S : 20000000 };
    const struct catalogue *catalogue = catalogue_load(w.arena, NULL, 0, &err);
    const struct service_ops ops = { .start = start_soon, .self = &w };

    assert_non_null(catalogue);
    rng_init(&w.rng, seed, "route", 0);
    w.gap_s = (generates ? 0.3 : 0.002) / replicas;
    w.gang = (struct gang) { .gpu = catalogue_gpu(catalogue, generates ? "l40s" : "t4"),
                             .gpus = 1, .nodes = 1, .intra_bps = 1e10 };
    w.spec = (struct service_spec) {
        .name = "s", .route = route, .batch_max = 8, .chunk_tokens = 256,
        .batch_delay_ns = 2000000, .timeout_ns = seed % 2 == 0 ? 3 * w.unit_ns : 0,
        .scaling = { SERVE_CONCURRENCY, generates ? 6 : 2, w.unit_ns, 0 },
    };
    w.spec.side[SERVE_GPU] = (struct serve_side_spec) {
        .form = (const struct job_form *)(const void *)&some,   /* not looked at */
        .min = 1, .max = replicas,
        .law = { .kind = generates ? SERVE_GENERATE : SERVE_ENCODE,
                 .llm = catalogue_llm(catalogue, generates ? "llama-3-8b" : "bert-base"),
                 .precision = generates ? PRECISION_BF16 : PRECISION_INT8, .tp = 1,
                 .prompt_tokens = 128 },
    };
    w.loop = loop_new((struct loop_limits){ INT64_MAX, UINT64_MAX, NULL });
    struct service_parts parts = { w.arena, w.loop, &w.spec, &ops, give_request, &w, 1, 0,
                                   NULL };
    struct service *service = service_new(&parts);
    service_begin(service);
    w.service = service;
    loop_run(w.loop);
    const struct service_result *result = service_close(service);
    assert_true(result->requests == REQUESTS && result->done > REQUESTS / 2);
    if (w.looks < REQUESTS * 9 / 10 || w.ties == 0 || result->side[SERVE_GPU].most <= replicas / 2)
        fail_msg("seed %d: %u looks, %u ties, %u replicas", (int)seed, w.looks, w.ties,
                 result->side[SERVE_GPU].most);
    service_free(service);
    loop_free(w.loop);
    arena_free(w.arena);
}

static void the_least_is_what_a_look_at_each_finds(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++)
        for (uint32_t generates = 0; generates < 2; generates++) {
            serve_random(seed, SERVE_SHORTEST_QUEUE, generates, 5);
            serve_random(seed, SERVE_LEAST_LOADED, generates, 33);
        }
}

/* ---- a mass that waits ---- */

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9))
        fail_msg("%.12g, expected %.12g", found, expected);
}

/* 20 requests came from 0 to 10 s, 2/s, and 10 from 10 to 20 s, 1/s. */
static void a_mass_is_served_in_the_order_in_which_it_came(void **state)
{
    struct backlog b = { 0 };

    (void)state;
    service_backlog_add(&b, 0, 10, 20);
    service_backlog_add(&b, 10, 10, 0);     /* none: no part */
    service_backlog_add(&b, 10, 20, 10);
    assert_int_equal(b.count, 2);
    near(b.requests, 30);
    near(service_backlog_came_s(&b, 0), 0);
    near(service_backlog_came_s(&b, 5), 2.5);       /* 5 / 2 per s */
    near(service_backlog_came_s(&b, 20), 10);
    near(service_backlog_came_s(&b, 25), 15);
    near(service_backlog_came_s(&b, 30), 20);
    service_backlog_take(&b, 10);           /* the other half came from 5 s on */
    near(b.requests, 20);
    near(service_backlog_came_s(&b, 0), 5);
    near(service_backlog_came_s(&b, 5), 7.5);
    service_backlog_take(&b, 15);           /* 10 of the first part, 5 of the second */
    assert_int_equal(b.count, 1);
    near(b.requests, 5);
    near(service_backlog_came_s(&b, 0), 15);
    service_backlog_take(&b, 7);            /* all that there is */
    assert_true(b.count == 0 && b.requests == 0);
    service_backlog_free(&b);
}

/* 10 that came from 0 to 10 s, and 4 that came at 10 s at once. */
static void those_who_came_before_a_time_give_up(void **state)
{
    struct backlog b = { 0 };

    (void)state;
    assert_true(service_backlog_expire(&b, 5) == 0);
    service_backlog_add(&b, 0, 10, 10);
    service_backlog_add(&b, 10, 10, 4);
    near(service_backlog_expire(&b, 0), 0);
    near(service_backlog_expire(&b, 3), 3);         /* 1/s for 3 s */
    near(b.requests, 11);
    near(service_backlog_came_s(&b, 0), 3);
    near(service_backlog_expire(&b, 3), 0);
    near(service_backlog_expire(&b, 10), 7);        /* not those of that instant */
    near(b.requests, 4);
    near(service_backlog_expire(&b, 10.5), 4);
    assert_true(b.count == 0 && b.requests == 0);
    service_backlog_add(&b, 20, 30, 5);
    service_backlog_add(&b, 30, 40, 6);
    near(service_backlog_expire(&b, 35), 5 + 3);
    near(service_backlog_came_s(&b, 0), 35);
    service_backlog_free(&b);
}

/* Beyond 15 of 20: the newest, each as likely; beyond 8: all 5 that are left of them, and 2. */
static void a_full_queue_refuses_the_newest(void **state)
{
    struct backlog b = { 0 };

    (void)state;
    service_backlog_add(&b, 0, 10, 10);
    service_backlog_add(&b, 10, 20, 10);
    near(service_backlog_cut(&b, 20), 0);
    near(service_backlog_cut(&b, 15), 5);
    near(b.requests, 15);
    near(service_backlog_came_s(&b, 12.5), 15);     /* 2.5 of 5, from 10 to 20 s */
    near(service_backlog_cut(&b, 8), 7);
    assert_int_equal(b.count, 1);
    near(b.requests, 8);
    near(service_backlog_came_s(&b, 4), 5);         /* the first 4 of 8 came within 5 s */
    near(service_backlog_cut(&b, 0), 8);
    assert_int_equal(b.count, 0);
    service_backlog_free(&b);
}

/* One request comes in each second; in each third one is taken: the ring grows while its first
 * part is not at its begin. */
static void a_long_backlog_keeps_its_order(void **state)
{
    struct backlog b = { 0 };
    double taken = 0;

    (void)state;
    for (int i = 0; i < 200; i++) {
        service_backlog_add(&b, i, i + 1, 1);
        if (i % 3 == 2) {
            service_backlog_take(&b, 1);
            taken++;
        }
        near(b.requests, i + 1 - taken);
        for (double ahead = 0; ahead < b.requests; ahead++)
            near(service_backlog_came_s(&b, ahead), taken + ahead);
    }
    service_backlog_free(&b);
}

/* Ten seconds are over, and requests give up after five.  The first two of a replica came at 0 s
 * and 1 s and have made a part of their answers, which a full KV cache threw out: they stay.  Of
 * those of 2 s, 4 s and 9 s that wait behind them the first two are gone, 30 tokens each, and the
 * next one goes at 14 s. */
static void requests_behind_begun_ones_give_up(void **state)
{
    struct loop *loop = loop_new((struct loop_limits){ 10 * CLOCK_NS_PER_S, UINT64_MAX, NULL });
    struct service_spec spec = { .timeout_ns = 5 * CLOCK_NS_PER_S };
    struct flight slot[8] = { { 0 } }, batch[1] = { { 0 } };
    struct service s = { .parts = { .loop = loop }, .spec = &spec, .in_service = 5 };
    struct replica r = { .service = &s, .batch = batch, .load_tokens = 150,
                         .queue = { .slot = slot, .head = 6, .count = 5, .room = 8 } };
    struct replica *all[1] = { &r };
    uint32_t live[1] = { 0 };

    (void)state;
    for (int i = 0; i < 5; i++) {
        static const int64_t came_s[] = { 0, 1, 2, 4, 9 };
        slot[(6 + i) % 8] = (struct flight){ .arrive_ns = came_s[i] * CLOCK_NS_PER_S,
                                             .prompt_tokens = 20, .output_tokens = 10,
                                             .made_tokens = i < 2 ? 5 : 0 };
    }
    s.replica = all;
    s.live = live;
    s.lives = 1;
    loop_at(loop, 11 * CLOCK_NS_PER_S, LOOP_RANK_OUTAGE, make_ready, NULL, 0);
    loop_run(loop);
    assert_true(service_now(&s) == 10 * CLOCK_NS_PER_S);
    service_drop_expired(&s);
    assert_true(s.result.dropped == 2 && s.in_service == 3);
    assert_true(r.load_tokens == 90 && r.queue.count == 3);
    assert_true(s.expire_ns == 14 * CLOCK_NS_PER_S);
    for (int i = 0; i < 3; i++) {
        static const int64_t left_s[] = { 0, 1, 9 };
        assert_true(flight_pop(&r.queue).arrive_ns == left_s[i] * CLOCK_NS_PER_S);
    }
    loop_free(loop);
}

/* What is put in passes those before it that came later, one by one, down to what is at work and
 * what made tokens: returns how many stand before it. */
static uint32_t put_plainly(struct flight *list, uint32_t count, uint32_t stay,
                            struct flight flight)
{
    uint32_t at = count;

    for (; at > stay && list[at - 1].arrive_ns > flight.arrive_ns &&
           list[at - 1].made_tokens == 0; at--)
        list[at] = list[at - 1];
    list[at] = flight;
    return at;
}

/* 20,000 times by lot: requests come in order, or are sent on in runs, while some are at work;
 * first and last ones leave, and some come back to the front with tokens made. */
static void what_is_sent_on_stands_as_if_it_passed_one_by_one(void **state)
{
    static struct flight list[400];
    struct flight_queue queue = { 0 };
    struct rng rng;
    uint32_t count = 0, stay = 0, late = 0;
    int64_t now = 0, sent = 0;

    (void)state;
    rng_init(&rng, 7, "sent on", 0);
    for (int i = 0; i < 20000; i++) {
        uint32_t does = (uint32_t)rng_below(&rng, 8);
        struct flight flight = { .output_tokens = (uint32_t)i };

        if (does < 5 && count < 390) {
            flight.arrive_ns = does < 3 ? ++now : (sent = does == 3 ? sent + 1 : now - now / 3);
            uint32_t at = put_plainly(list, count++, stay, flight);
            assert_true(flight_insert(&queue, stay, &flight) == (at == 0));
            late += at + 1 < count;
        } else if (does == 5 && count > 0) {
            assert_int_equal(flight_pop(&queue).output_tokens, list[0].output_tokens);
            memmove(list, list + 1, --count * sizeof *list);
            stay -= stay > 0;
        } else if (does == 6 && count > stay) {
            assert_int_equal(flight_pop_last(&queue).output_tokens,
                             list[--count].output_tokens);
        } else if (does == 7 && stay == 0 && i % 4 > 0 && count < 390) {
            flight.made_tokens = 1;
            flight_push_front(&queue, &flight);
            memmove(list + 1, list, count++ * sizeof *list);
            list[0] = flight;
        } else if (does == 7) {
            flight_settle(&queue);
            stay = count < 3 ? count : 3;
        }
    }
    assert_true(late > 2000);
    while (count > 0) {
        assert_int_equal(flight_pop(&queue).output_tokens, list[0].output_tokens);
        memmove(list, list + 1, --count * sizeof *list);
    }
    assert_int_equal(queue.count, 0);
    flight_free(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_is_what_a_look_at_each_finds),
        cmocka_unit_test(requests_behind_begun_ones_give_up),
        cmocka_unit_test(what_is_sent_on_stands_as_if_it_passed_one_by_one),
        cmocka_unit_test(a_mass_is_served_in_the_order_in_which_it_came),
        cmocka_unit_test(those_who_came_before_a_time_give_up),
        cmocka_unit_test(a_full_queue_refuses_the_newest),
        cmocka_unit_test(a_long_backlog_keeps_its_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
