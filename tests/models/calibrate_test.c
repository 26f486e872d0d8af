/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calibrate_test.c - the laws against the measurements that ship.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/calibrate/calibrate.h"
#include "tests/aid/law_aids.h"

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
    assert_true(held.rows == 2 && chosen.rows == 8);
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

/* A tool that refuses rows to look better is worthless. */
static void solid_rows_are_predicted_but_for_one_in_twenty(void **state)
{
    const char *shared = getenv("SHARED");
    struct law_aids aids = law_aids_new();
    char dir[4096], file[4200];
    unsigned suites = 0;

    (void)state;
    snprintf(dir, sizeof dir, "%s/calibration",
             shared != NULL ? shared : "../shared");
    snprintf(file, sizeof file, "%s/gemm.csv", dir);
    if (access(file, R_OK) != 0) {
        print_message("skipped: no %s\n", file);
        law_aids_free(&aids);
        skip();
    }
    for (size_t i = 0; i < calibrate_suite_count; i++) {
        struct calibrate_samples samples;
        struct err err = { 0 };
        size_t solid = 0, predicted = 0;

        if (calibrate_suites[i].solid != NULL)
            continue;
        assert_true(calibrate_read(aids.arena, aids.catalogue,
                                   &calibrate_suites[i], dir, &samples,
                                   &err));
        for (size_t k = 0; k < samples.count; k++) {
            solid += samples.item[k].solid;
            predicted += samples.item[k].solid &&
                         samples.item[k].refused == NULL;
        }
        suites += solid > 0;
        if ((double)predicted < 0.95 * (double)solid)
            fail_msg("%s: %zu of %zu rows", calibrate_suites[i].name,
                     predicted, solid);
    }
    assert_true(suites >= 20);
    law_aids_free(&aids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_meet_the_targets_of_papers),
        cmocka_unit_test(chosen_rows_are_not_held_out),
        cmocka_unit_test(solid_rows_are_predicted_but_for_one_in_twenty),
        cmocka_unit_test(a_folder_without_the_table_has_no_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
