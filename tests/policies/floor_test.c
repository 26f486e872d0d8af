/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * floor_test.c - random order is what it says, and no policy is left out of the
 * comparison with it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "tests/aid/world.h"

static const char *const files[] = {
    "experiments/floor/order.yaml", "experiments/floor/elastic.yaml",
    "experiments/floor/mixed_gpus.yaml", "experiments/floor/phases.yaml",
};

/* Is there a line with `text` before the second bar, or anywhere if not `cell`? */
static bool has_line(const char *path, const char *text, bool cell)
{
    static char line[8192];
    FILE *file = fopen(path, "r");
    bool found = false;

    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file) != NULL) {
        char *end = cell && line[0] == '|' ? strchr(line + 1, '|') : NULL;

        if (cell)
            *(end != NULL ? end : line) = '\0';
        found = strstr(line, text) != NULL;
    }
    fclose(file);
    return found;
}

/* In how many files is it expected to beat random order? */
static int count_claims(const char *policy)
{
    char claim[96];
    int count = 0;

    snprintf(claim, sizeof claim, "{claim: %s, metric: ", policy);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        count += has_line(files[i], claim, false);
    return count;
}

static void each_policy_is_asked_or_a_reason_stands_in_the_manual(void **state)
{
    char quoted[64];

    (void)state;
    for (size_t i = 0; registry_at(i) != NULL; i++) {
        const char *name = registry_at(i)->name;
        bool excused;

        snprintf(quoted, sizeof quoted, "`%s`", name);
        excused = has_line("experiments/floor/README.md", quoted, true);
        if ((count_claims(name) > 0) == excused)
            fail_msg("%s: it must be asked in experiments/floor, or have a row "
                     "in its README.md with the reason, and not both", name);
    }
}

static void each_claim_is_against_random_order(void **state)
{
    static char line[512];

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        FILE *file = fopen(files[i], "r");
        int claims = 0, versus = 0, limits = 0;

        assert_non_null(file);
        while (fgets(line, sizeof line, file) != NULL) {
            claims += strstr(line, "{claim: ") != NULL;
            versus += strstr(line, "vs: random,") != NULL;
            limits += strstr(line, "at_most: 0%}") != NULL ||
                      strstr(line, "at_least: 0%}") != NULL;
        }
        fclose(file);
        assert_true(claims > 0);
        assert_int_equal(claims, versus);
        assert_int_equal(claims, limits);
    }
}

/* 39 of 40 GPUs are released at 100 s; one stays busy, so that none of 30 jobs for 40 GPUs
 * fits then, but each of 30 jobs for one does. */
static void all_that_fits_is_started_in_one_decision(void **state)
{
    struct world world = { 0 };
    struct world_job job[62] = { { 0, 100, 39, 0, 0 }, { 0, 10000, 1, 0, 0 } };

    (void)state;
    for (uint32_t i = 2; i < 62; i++)
        job[i] = (struct world_job) { 1, 50, i % 2 == 0 ? 40 : 1, 0, 0 };
    assert_true(world_trace(&world, 1, 40, job, 62, "[random]"));
    assert_true(world_run(&world, 0, NULL, job, NULL));
    for (uint32_t i = 3; i < 62; i += 2)
        assert_true(job[i].start_s >= 100 && job[i].start_s <= 100);
    world_close(&world);
}

/* Three equal jobs wait for one GPU.  In 600 trials each of their six orders stands
 * 100 times, with a deviation of sqrt(600 * 1/6 * 5/6) = 9.1; four of them are 37. */
static void each_order_is_as_likely(void **state)
{
    struct world world = { 0 };
    struct world_job job[4] = { { 0, 100, 1, 0, 0 }, { 1, 10, 1, 0, 0 },
                                { 2, 10, 1, 0, 0 }, { 3, 10, 1, 0, 0 } };
    unsigned seen[64] = { 0 };

    (void)state;
    assert_true(world_trace_on(&world, "nodes: [{name: n, count: 1, gpus: "
                               "{type: generic, count: 1}}]", job, 4,
                               "[random]", 600));
    for (uint32_t trial = 0; trial < 600; trial++) {
        unsigned order = 0;
        assert_true(world_run(&world, trial, NULL, job, NULL));
        for (uint32_t i = 1; i < 4; i++)
            order = 4 * order + (unsigned)((job[i].start_s - 100) / 10);
        seen[order]++;
    }
    static const unsigned orders[] = { 6, 9, 18, 24, 33, 36 };  /* 012 021 102 120 201 210 */
    for (size_t i = 0; i < 6; i++)
        assert_in_range(seen[orders[i]], 63, 137);
    world_close(&world);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_fits_is_started_in_one_decision),
        cmocka_unit_test(each_order_is_as_likely),
        cmocka_unit_test(each_policy_is_asked_or_a_reason_stands_in_the_manual),
        cmocka_unit_test(each_claim_is_against_random_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
