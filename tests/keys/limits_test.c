/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * limits_test.c - a limit of a search that cuts is counted, one that does not is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/key_worlds.h"

static double limited(const char *entry, const char *keys, size_t w)
{
    struct err err;
    const struct host_policy *policy = key_entry(entry, keys, "", &err);
    struct trial_spec spec = experiment_trial_spec(key_world[w].experiment, 0);
    struct trial_tables tables = { 0 };
    struct trial_result result;

    if (policy == NULL)
        fail_msg("%s", err.text);
    spec.policy = policy;
    if (!trial_run(&spec, &tables, &result, &err))
        fail_msg("%s", err.text);
    return result.value[METRIC_LIMITED];
}

/* A limit that cuts is counted, one that leaves nothing out is not; in the fast
 * path of trials (GPUs are a count alone) as in the host. */
static void a_limit_that_cuts_is_counted(void **state)
{
    static const struct {
        const char *policy, *tight, *wide;
        size_t world;
    } row[] = {
        { "allox", "depth_max: 2", "depth_max: 200", 3 },
        { "allox", "cells_max: 1", "", 3 },
        { "synergy", "cores_max: 2", "", 4 },
        { "easy", "depth_max: 1", "", 1 },
        { "learned", "depth_max: 1", "depth_max: 300", 2 },
        { "advised", "depth: 1, " ADVISED, "depth: 300, " ADVISED, 2 },
        { "pollux", "depth: 1, population: 8, generations: 5",
          "depth: 90, population: 8, generations: 5", 1 },
        { "sia", "depth: 1", "depth: 90", 1 },
        { "themis", "sizes_max: 2", "sizes_max: 12", 1 },   /* of 1 to 12 GPUs */
        { "elasticflow", "slots_max: 20", "slots_max: 100000", 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        if (!(limited(row[i].policy, row[i].tight, row[i].world) > 0))
            fail_msg("%s {%s} cuts, and nothing is counted", row[i].policy,
                     row[i].tight);
        if (limited(row[i].policy, row[i].wide, row[i].world) > 0)
            fail_msg("%s {%s} leaves nothing out, and is counted",
                     row[i].policy, row[i].wide);
    }
    assert_true(limited("fcfs", "", 0) <= 0);
}

static void a_limit_is_counted_alike_by_both_paths(void **state)
{
    struct world small = { 0 };
    struct world_job job[60];
    struct trial_tables tables = { 0 };
    struct trial_result result[2];
    struct err err = { 0 };

    (void)state;
    world_random_jobs(3, job, 60);
    assert_true(world_trace(&small, 2, 8, job, 60, "[{policy: easy, placement: "
                            "count, depth_max: 2}]"));
    for (int k = 0; k < 2; k++) {
        struct trial_spec spec = experiment_trial_spec(small.experiment, 0);
        spec.by_host = k == 1;
        assert_true(trial_run(&spec, &tables, &result[k], &err));
    }
    assert_true(result[0].value[METRIC_LIMITED] > 0);
    assert_true(result[0].value[METRIC_LIMITED] >=
                    result[1].value[METRIC_LIMITED] &&
                result[0].value[METRIC_LIMITED] <=
                    result[1].value[METRIC_LIMITED]);
    world_close(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_that_cuts_is_counted),
        cmocka_unit_test(a_limit_is_counted_alike_by_both_paths),
    };
    return cmocka_run_group_tests(tests, key_worlds_open, key_worlds_close);
}
