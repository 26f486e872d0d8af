/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calibrate_test.c - the laws against the measurements that ship.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/calibrate.h"
#include "tests/law_aids.h"

static const struct calibrate_suite *find(const char *name)
{
    for (size_t i = 0; i < calibrate_suite_count; i++)
        if (strcmp(calibrate_suites[i].name, name) == 0)
            return &calibrate_suites[i];
    return NULL;
}

static struct calibrate_error error_of(const struct law_aids *aids,
                                       const char *name,
                                       struct calibrate_samples *samples)
{
    struct err err = { 0 };

    assert_true(calibrate_read(aids->arena, aids->catalogue, find(name),
                               "models/validation", samples, &err));
    return calibrate_error(aids->arena, samples, CALIBRATE_HELD_OUT);
}

static void laws_meet_the_targets_of_papers(void **state)
{
    struct law_aids aids = law_aids_new();
    struct calibrate_samples samples;
    struct calibrate_error e;

    (void)state;
    e = error_of(&aids, "Korthikanti-T5", &samples);
    assert_true(e.rows == 8 && e.mean <= 0.04 && e.max <= 0.10);
    e = error_of(&aids, "weak-scaling", &samples);
    assert_true(e.rows == 10 && e.mean <= 0.05 && e.max <= 0.14);
    e = error_of(&aids, "memory-fig1", &samples);
    assert_true(e.rows == 12 && e.max <= 0.05);
    law_aids_free(&aids);
}

/* Those whose rows helped to choose constants are counted apart. */
static void chosen_rows_are_not_held_out(void **state)
{
    struct law_aids aids = law_aids_new();
    struct calibrate_samples samples;
    struct calibrate_error held = error_of(&aids, "AccelMark-A", &samples);
    struct calibrate_error chosen = calibrate_error(aids.arena, &samples,
                                                    CALIBRATE_CHOSEN);

    (void)state;
    assert_true(held.rows == 7 && chosen.rows == 3);
    assert_true(held.median <= held.p90 && held.p90 <= held.max);
    law_aids_free(&aids);
}

static void a_folder_without_the_table_has_no_samples(void **state)
{
    struct law_aids aids = law_aids_new();
    struct calibrate_samples samples;

    (void)state;
    assert_true(error_of(&aids, "collectives", &samples).rows == 0);
    assert_true(samples.count == 0);
    law_aids_free(&aids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_meet_the_targets_of_papers),
        cmocka_unit_test(chosen_rows_are_not_held_out),
        cmocka_unit_test(a_folder_without_the_table_has_no_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
