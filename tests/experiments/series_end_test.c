/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series_end_test.c - a series that ends before the run, of each key that takes one: the run
 * is refused at the series, unless its last value holds, which is counted, or it repeats.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/world.h"

/* A run of three hours; the series have their last point after one. */
static const struct {
    const char *what, *cluster;         /* the text has what comes after as %s */
} series[] = {
    { "the price of nodes", "nodes: [{name: a, count: 1, gpus: {type: generic, count: 8}, price: "
      "{unit: USD/h, points: [[0h, 2], [1h, 3]]%s}}]" },
    { "the price of other nodes", "nodes: [{name: b, count: 1, price: 1USD/h, gpus: {type: "
      "generic, count: 8}}, {name: a, count: 1, gpus: {type: generic, count: 8}, price: {unit: "
      "USD/h, points: [[0h, 2], [1h, 3]]%s}}]" },
    { "nodes that can be had", "nodes: [{name: a, count: 2, price: 1USD/h, gpus: {type: generic, "
      "count: 8}, rent: {start: 0s, available: {unit: nodes, points: [[0h, 2], [1h, 1]]%s}}}]" },
    { "carbon", "nodes: [{name: a, count: 1, gpus: {type: t4, count: 8}, cpu: {type: "
      "epyc-7763}, memory: 64GB}], carbon: {unit: gCO2/kWh, points: [[0h, 100], [1h, 200]]%s}" },
};

static bool runs(const char *cluster, const char *after, struct trial_result *result,
                 struct world *world)
{
    static const struct world_job job[] = { { 0, 10800, 1, 0, 0 } };
    char text[600];
    struct world_job out[1];

    memset(world, 0, sizeof *world);
    snprintf(text, sizeof text, cluster, after);
    if (!world_trace_on(world, text, job, 1, "[fcfs]", 1))
        fail_msg("%s: %s", text, world_error(world));
    out[0] = job[0];
    return world_run(world, 0, NULL, out, result);
}

static void a_series_that_ends_too_early_is_refused_or_held(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof series / sizeof series[0]; i++) {
        struct trial_result result;
        struct world world;

        if (runs(series[i].cluster, "", &result, &world))
            fail_msg("%s: it runs", series[i].what);
        if (strstr(world_error(&world), "the series ends 7") == NULL ||
            strstr(world_error(&world), "0 s before the run, which took 1") == NULL ||
            world.err.pos.line != 4)
            fail_msg("%s: line %u: %s", series[i].what, world.err.pos.line, world_error(&world));
        world_close(&world);
        if (!runs(series[i].cluster, ", after: hold", &result, &world))
            fail_msg("%s: %s", series[i].what, world_error(&world));
        if (!(fabs(result.value[METRIC_SERIES_HELD] - 7200) < 1000 &&
              result.value[METRIC_SERIES_HELD] >= 7200))
            fail_msg("%s: held %g s", series[i].what, result.value[METRIC_SERIES_HELD]);
        world_close(&world);
        if (!runs(series[i].cluster, ", repeat: 2h", &result, &world))
            fail_msg("%s: %s", series[i].what, world_error(&world));
        assert_true(result.value[METRIC_SERIES_HELD] <= 0);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_that_ends_too_early_is_refused_or_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
