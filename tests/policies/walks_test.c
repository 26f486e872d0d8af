/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * walks_test.c - policies that keep lists of their own, against what they did by walks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/meets.h"
#include "tests/aid/world.h"


/* ---- policies that keep lists of their own ---- */

extern const struct cs_policy plain_conservative_policy, plain_dlas_policy,
    plain_fair_share_policy, plain_gittins_policy, plain_qssf_policy;

static void policies_do_what_they_did_by_walks(void **state)
{
    static const char *const more[] = {
        "", ", tick: 10s", ", estimate: noisy, noise: 1",
        ", estimate: requested", ", blocking: skip",
        ", rounds: {length: 30s}",
    };
    /* The parameters come first in what a policy keeps. */
    static const struct {
        int64_t time_ns[2];
        int word[2];
        int64_t count;
        char rest[500];
    } none = { { 0 }, { 0 }, 0, "" },
      limits = { { 300000000000, 900000000000 }, { 0, 0 },
                 0, "" },
      theirs = { { 300000000000, 900000000000 }, { 1, 0 },
                 0, "" },
      times = { { 300000000000, 900000000000 }, { 0, 1 }, 2,
                "" },
      knob = { { 300000000000, 900000000000 }, { 1, 0 }, 4,
               "" };
    const struct {
        const struct cs_policy *slow;
        const void *params;
        const char *fast;
    } pair[] = {
        { &plain_conservative_policy, &none, "conservative" },
        { &plain_dlas_policy, &limits, "dlas, limit_1: 300s, limit_2: 900s" },
        { &plain_dlas_policy, &theirs, "dlas, limit_1: 300s, limit_2: 900s, "
                                        "demotion: tiresias" },
        { &plain_dlas_policy, &times, "dlas, limit_1: 300s, limit_2: 900s, "
                                       "service: time, promotion: 2" },
        { &plain_dlas_policy, &knob, "dlas, limit_1: 300s, limit_2: 900s, "
                                      "demotion: tiresias, promotion: 4" },
        { &plain_fair_share_policy, &none, "fair-share" },
    };
    char text[160];

    (void)state;
    for (size_t p = 0; p < sizeof pair / sizeof *pair; p++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
                assert_true(pair[p].slow->self_bytes <= sizeof none);
                if (!world_accepts(pair[p].fast, more[m]))
                    continue;
                snprintf(text, sizeof text, "%s%s", pair[p].fast, more[m]);
                meets(pair[p].slow, pair[p].params, text, seed,
                      meets_rule[m % 5]);
                if (!(pair[p].slow->flags & CS_PREEMPTS))
                    continue;
                snprintf(text, sizeof text, "%s%s, preemption: {cost: %ds}",
                         pair[p].fast, more[m], m % 2 == 0 ? 20 : 37);
                meets(pair[p].slow, pair[p].params, text, seed,
                      meets_rule[(m + 1) % 5]);
            }
}

/* No two lengths are in a ratio of small numbers: where two indexes are equal,
 * rounding would decide. */
static void gittins_goes_by_the_index_as_it_is_defined(void **state)
{
    static const char *const more[] = {
        "", ", preemption: {cost: 37s}",
        ", rounds: {length: 30s}",
    };
    static const int64_t quantum[300] = { 600000000000 };
    char text[160];

    (void)state;
    assert_true(plain_gittins_policy.self_bytes <= sizeof quantum);
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
            struct world_job job[MEETS_JOBS];
            world_random_jobs(seed, job, MEETS_JOBS);
            for (uint32_t i = 0; i < MEETS_JOBS; i++) {
                job[i].submit_s *= 20;
                job[i].duration_s = 60 * job[i].duration_s + 7 * i;
            }
            snprintf(text, sizeof text, "gittins, quantum: 600s%s", more[m]);
            agrees(&plain_gittins_policy, quantum, text, seed, meets_rule[m], job);
        }
}

/* Predictions by tenant and size, by tenant, and of all: seeds have 3, 23 and 43 tenants. */
static void qssf_predicts_by_what_a_walk_over_the_ended_finds(void **state)
{
    static const char *const more[] = {
        "", ", tick: 10s", ", blocking: skip", ", rounds: {length: 30s}",
    };
    static const int64_t none[300];
    char text[160];

    (void)state;
    assert_true(plain_qssf_policy.self_bytes <= sizeof none);
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t m = 0; m < sizeof more / sizeof *more; m++) {
            snprintf(text, sizeof text, "qssf%s", more[m]);
            if (world_accepts("qssf", more[m]))
                meets(&plain_qssf_policy, none, text, seed, meets_rule[m]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_do_what_they_did_by_walks),
        cmocka_unit_test(qssf_predicts_by_what_a_walk_over_the_ended_finds),
        cmocka_unit_test(gittins_goes_by_the_index_as_it_is_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
