/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backlog_test.c - a mass of requests that waits, beside a plain list of slices: each part is cut
 * into slices of its span, and a slice is taken, given up or cut on its own.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "models/serving/state.h"
#include "sim/base/rng.h"

#define SLICES 20
#define PARTS_MAX 400

struct slice {
    double from_s, until_s, requests;
    int part;
};

struct plain {
    struct slice slice[PARTS_MAX * SLICES];
    int count, parts;
};

static void plain_add(struct plain *p, double from_s, double until_s, double requests)
{
    double each_s = (until_s - from_s) / SLICES;

    for (int i = 0; i < SLICES && requests > 0; i++)
        p->slice[p->count++] = (struct slice){ from_s + i * each_s, from_s + (i + 1) * each_s,
                                               requests / SLICES, p->parts };
    p->parts++;
}

static double plain_requests(const struct plain *p)
{
    double sum = 0;

    for (int i = 0; i < p->count; i++)
        sum += p->slice[i].requests;
    return sum;
}

/* What is taken of a slice is the beginning of its span. */
static void plain_take(struct plain *p, double requests)
{
    for (int i = 0; i < p->count; i++) {
        struct slice *s = &p->slice[i];
        double take = fmin(requests, s->requests);

        if (take > 0)
            s->from_s += (s->until_s - s->from_s) * take / s->requests;
        s->requests -= take;
        requests -= take;
    }
}

static double plain_before(const struct plain *p, double before_s)
{
    double sum = 0;

    for (int i = 0; i < p->count; i++) {
        const struct slice *s = &p->slice[i];
        double span_s = s->until_s - s->from_s;

        if (s->from_s < before_s)
            sum += s->requests * (span_s > 0 ? fmin(1, (before_s - s->from_s) / span_s) : 1);
    }
    return sum;
}

/* The last parts go; of one that goes in part each slice loses alike. */
static void plain_cut(struct plain *p, double over)
{
    for (int part = p->parts - 1; part >= 0 && over > 0; part--) {
        double of_part = 0;

        for (int i = 0; i < p->count; i++)
            of_part += p->slice[i].part == part ? p->slice[i].requests : 0;
        double cut = fmin(over, of_part);
        for (int i = 0; i < p->count && of_part > 0; i++)
            if (p->slice[i].part == part)
                p->slice[i].requests -= p->slice[i].requests * cut / of_part;
        over -= cut;
    }
}

static double plain_came_s(const struct plain *p, double ahead)
{
    double last_s = 0;

    for (int i = 0; i < p->count; i++) {
        const struct slice *s = &p->slice[i];
        if (ahead < s->requests)
            return s->from_s + (s->until_s - s->from_s) * ahead / s->requests;
        ahead -= s->requests;
        last_s = s->requests > 0 ? s->until_s : last_s;
    }
    return last_s;
}

static void is_near(const char *what, double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-6 * (1 + fabs(expected))))
        fail_msg("%s: %.9g, expected %.9g", what, found, expected);
}

static void compare(const struct backlog *b, const struct plain *p)
{
    double requests = plain_requests(p);

    is_near("requests", b->requests, requests);
    if (requests < 1e-6 || b->count == 0)
        return;
    for (int i = 0; i < 10; i++)
        is_near("came", service_backlog_came_s(b, requests * (0.03 + 0.1 * i)),
                plain_came_s(p, requests * (0.03 + 0.1 * i)));
}

/* One change of both, of a kind drawn by lot. */
static void change_both(struct backlog *b, struct plain *p, struct rng *rng, double *now_s)
{
    double has = fmax(0, plain_requests(p)), some = has * (double)rng_below(rng, 8) / 10;
    double until_s = *now_s + (double)rng_below(rng, 4), gone;

    switch (rng_below(rng, 6)) {
    case 0:
        service_backlog_take(b, some);
        plain_take(p, some);
        return;
    case 1:
        gone = plain_before(p, *now_s - some);
        is_near("gone", service_backlog_expire(b, *now_s - some), gone);
        plain_take(p, gone);
        return;
    case 2:
        is_near("over", service_backlog_cut(b, some), has - some);
        plain_cut(p, has - some);
        return;
    default:
        some = (double)rng_below(rng, 30);
        service_backlog_add(b, *now_s, until_s, some);
        plain_add(p, *now_s, until_s, some);
        *now_s = until_s;
    }
}

static void a_mass_waits_as_its_slices_do(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct backlog b = { 0 };
        static struct plain p;
        struct rng rng;
        double now_s = 0;

        p.count = p.parts = 0;
        rng_init(&rng, seed, "backlog", 0);
        for (int i = 0; i < 200; i++) {
            change_both(&b, &p, &rng, &now_s);
            compare(&b, &p);
        }
        service_backlog_free(&b);
        assert_true(b.part == NULL && b.count == 0 && b.room == 0);
    }
}

/* 100 parts one after the other, of which two stand at once: the ring turns and grows. */
static void a_queue_that_turns_loses_nobody(void **state)
{
    struct backlog b = { 0 };

    (void)state;
    for (int i = 0; i < 100; i++) {
        service_backlog_add(&b, i, i + 1, 4);
        if (i == 0)
            continue;
        assert_true(b.count == 2 && b.requests == 8);
        is_near("came", service_backlog_came_s(&b, 0), i - 1);
        is_near("came", service_backlog_came_s(&b, 6), i + 0.5);
        service_backlog_take(&b, 4);
    }
    assert_true(b.room == 16);
    for (int i = 100; i < 140; i++)
        service_backlog_add(&b, i, i + 1, 1);
    assert_true(b.count == 41 && b.room == 64 && b.requests == 44);
    for (int k = 0; k < 40; k++)
        is_near("came", service_backlog_came_s(&b, 4 + k), 100 + k);
    /* Whom nobody stands behind: the end of the last part. */
    is_near("came", service_backlog_came_s(&b, 44), 140);
    service_backlog_free(&b);
}

/* By hand: 10 came from 0 to 5 s and 6 from 5 to 8 s. */
static void takes_the_first_and_cuts_the_last(void **state)
{
    struct backlog b = { 0 };

    (void)state;
    service_backlog_add(&b, 0, 5, 10);
    service_backlog_add(&b, 5, 8, 6);
    assert_true(service_backlog_cut(&b, 20) == 0);
    assert_true(service_backlog_cut(&b, 13) == 3);      /* 3 are left from 5 to 8 s */
    is_near("came", service_backlog_came_s(&b, 11), 6);
    service_backlog_take(&b, 4);                        /* 6 are left from 2 to 5 s */
    is_near("came", service_backlog_came_s(&b, 0), 2);
    is_near("gone", service_backlog_expire(&b, 3), 2);
    is_near("left", b.requests, 7);
    is_near("gone", service_backlog_expire(&b, 3), 0);
    is_near("gone", service_backlog_expire(&b, 5), 4);
    is_near("gone", service_backlog_expire(&b, 100), 3);
    assert_true(b.count == 0 && b.requests == 0);
    /* Those of one instant are before a time, or all are not. */
    service_backlog_add(&b, 9, 9, 5);
    is_near("gone", service_backlog_expire(&b, 9), 0);
    is_near("gone", service_backlog_expire(&b, 9.5), 5);
    service_backlog_add(&b, 9, 9, 0);
    assert_true(b.count == 0);
    service_backlog_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mass_waits_as_its_slices_do),
        cmocka_unit_test(a_queue_that_turns_loses_nobody),
        cmocka_unit_test(takes_the_first_and_cuts_the_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
