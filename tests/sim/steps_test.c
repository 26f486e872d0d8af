/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steps_test.c - numbers over time against an array of instants.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/containers/steps.h"

#define LAST 900                /* from this instant on nothing changes */
#define ROUNDS 3000u

struct instants {
    int64_t first, free[LAST + 1];
};

static int64_t plain_at(const struct instants *at, int64_t t)
{
    return at->free[t < at->first ? at->first : t < LAST ? t : LAST];
}

/* The last instant of a time that ends; where it does not, the last of all. */
static int64_t last_before(int64_t end)
{
    return end > LAST ? LAST : end - 1;
}

/* A short change, a long one, or one without end: to steps and instants alike. */
static void change_both(struct steps *steps, struct instants *at, struct rng *rng)
{
    int64_t start = at->first + (int64_t)rng_below(rng, (uint64_t)(LAST - at->first));
    int64_t span = rng_below(rng, 4) > 0 ? 6 : LAST;
    int64_t end = start + 1 + (int64_t)rng_below(rng, (uint64_t)span);
    int64_t add = (int64_t)rng_below(rng, 9) - 4, least = INT64_MAX, most = INT64_MIN;

    add += add >= 0;
    end = end > LAST ? CLOCK_NEVER_NS : end;
    for (int64_t t = start; t <= last_before(end); t++) {
        least = at->free[t] < least ? at->free[t] : least;
        most = at->free[t] > most ? at->free[t] : most;
        at->free[t] += add;
    }
    struct step_change change = steps_change(steps, start, end, add);
    assert_true(change.least <= least && change.most >= most);
    assert_true(step_time_ns(steps, change.from) <= start);
    assert_int_equal(step_free(steps, change.from), plain_at(at, start));
}

/* Each step begins where the number changes, and nowhere else. */
static void steps_are_those_of_the_instants(struct steps *steps, const struct instants *at)
{
    for (int64_t t = at->first; t <= LAST; t++) {
        struct step_at step = steps_find(steps, t);
        bool begins = t == at->first || at->free[t] != at->free[t - 1];
        assert_int_equal(step_free(steps, step), at->free[t]);
        assert_int_equal(step_time_ns(steps, step) == t, begins);
    }
}

static int64_t plain_start(const struct instants *at, int64_t t, int64_t free)
{
    while (t > at->first && at->free[t - 1] >= free)
        t--;
    return t;
}

/* The first instant from t on with so many, or with fewer. */
static int64_t plain_seek(const struct instants *at, int64_t t, int64_t free, bool enough)
{
    while (t <= LAST && (at->free[t] >= free) != enough)
        t++;
    return t <= LAST ? t : CLOCK_NEVER_NS;
}

static void questions_have_the_answers_of_instants(struct steps *steps, struct instants *at,
                                                   struct rng *rng)
{
    int64_t t = at->first + (int64_t)rng_below(rng, (uint64_t)(LAST - at->first));
    int64_t free = at->free[t] + (int64_t)rng_below(rng, 5) - 2;
    int64_t end = t + 1 + (int64_t)rng_below(rng, LAST), least = at->free[t];
    struct step_at step = steps_find(steps, t);
    struct stretch stretch;

    for (int64_t u = t; u <= last_before(end); u++)
        least = at->free[u] < least ? at->free[u] : least;
    assert_int_equal(steps_least(steps, t, end), least);
    int64_t first = plain_seek(at, t, free, true);
    if (at->free[t] >= free)
        assert_int_equal(steps_since(steps, step, free), plain_start(at, t, free));
    else
        assert_int_equal(steps_until(steps, step, free), first);
    assert_int_equal(steps_stretch(steps, &step, free, &stretch), first != CLOCK_NEVER_NS);
    if (first == CLOCK_NEVER_NS)
        return;
    assert_int_equal(stretch.start_ns, plain_start(at, first, free));
    assert_int_equal(stretch.end_ns, plain_seek(at, first, free, false));
    if (stretch.end_ns != CLOCK_NEVER_NS)
        assert_int_equal(step_time_ns(steps, step), stretch.end_ns);
}

static void steps_change_as_an_array_of_instants_does(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct arena *arena = arena_new(0);
        struct instants at = { .first = 0 };
        struct steps steps;
        struct rng rng;

        rng_init(&rng, seed, "steps", 0);
        steps_init(&steps, arena);
        steps_clear(&steps, 0, 0);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            change_both(&steps, &at, &rng);
            questions_have_the_answers_of_instants(&steps, &at, &rng);
            if (round % 100 == 0)
                steps_are_those_of_the_instants(&steps, &at);
            if (rng_below(&rng, 9) == 0 && at.first < LAST / 2)
                steps_forget(&steps, ++at.first);
        }
        arena_free(arena);
    }
}

/* By hand: 10 are free; 4 are taken in [20, 50) and 6 in [30, 40), and put back in another
 * order.  Each end makes a step where the number changes, and drops one where it no longer
 * does. */
static void an_end_makes_or_drops_a_step(void **state)
{
    struct arena *arena = arena_new(0);
    struct steps steps;
    struct stretch stretch;

    (void)state;
    steps_init(&steps, arena);
    steps_clear(&steps, 5, 10);
    steps_change(&steps, 20, 50, -4);
    struct step_change change = steps_change(&steps, 30, 40, -6);
    assert_int_equal(change.least, 6);
    assert_int_equal(change.most, 6);
    assert_int_equal(steps.list[0].block->count, 5);    /* 5: 10, 20: 6, 30: 0, 40: 6, 50: 10 */
    assert_int_equal(steps_least(&steps, 20, 30), 6);
    assert_int_equal(steps_least(&steps, 20, 31), 0);
    struct step_at step = steps_find(&steps, 30);
    assert_int_equal(steps_until(&steps, step, 7), 50);
    assert_true(steps_stretch(&steps, &step, 5, &stretch));
    assert_int_equal(stretch.start_ns, 40);
    assert_true(stretch.end_ns == CLOCK_NEVER_NS);
    steps_change(&steps, 20, 30, 4);    /* 20 goes; 30 stays */
    assert_int_equal(steps.list[0].block->count, 4);
    steps_change(&steps, 40, 50, 4);    /* 50 goes; 40 stays */
    assert_int_equal(steps.list[0].block->count, 3);
    change = steps_change(&steps, 30, 40, 10);  /* 30 and 40 go: 10 are free again */
    assert_int_equal(change.from.i, 0);
    assert_int_equal(steps.list[0].block->count, 1);
    assert_int_equal(steps_least(&steps, 5, CLOCK_NEVER_NS), 10);
    arena_free(arena);
}

/* 400 changes make 800 steps.  Nine in ten are undone, and three in four blocks go, too. */
static void blocks_go_with_their_steps(void **state)
{
    struct arena *arena = arena_new(0);
    struct steps steps;

    (void)state;
    steps_init(&steps, arena);
    steps_clear(&steps, 0, 1);
    for (int64_t i = 0; i < 400; i++)
        steps_change(&steps, 10 * i + 3, 10 * i + 5, -1);
    uint32_t most = steps.count;
    assert_true(most * STEP_BLOCK >= 801);
    for (int64_t i = 400; i-- > 0;)
        if (i % 10 != 0)
            steps_change(&steps, 10 * i + 3, 10 * i + 5, 1);
    assert_true(4 * steps.count <= most);
    for (int64_t i = 0; i < 400; i++)
        assert_int_equal(steps_least(&steps, 10 * i + 2, 10 * i + 4), i % 10 != 0);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_makes_or_drops_a_step),
        cmocka_unit_test(blocks_go_with_their_steps),
        cmocka_unit_test(steps_change_as_an_array_of_instants_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
