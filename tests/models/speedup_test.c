/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedup_test.c - how fast a job is on other GPUs and beside other jobs, by hand: two pools,
 * three sizes, two kinds of jobs; names that results print, what a request overrides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "models/laws/loader.h"
#include "tests/aid/law_aids.h"

static bool about(double value, double expected)
{
    return fabs(value - expected) < 1e-12;
}

static struct job_form form_of(const char *name, const struct job_scaling *scaling,
                               const struct job_packing *packing)
{
    return (struct job_form){ .name = name, .scaling = scaling, .packing = packing,
                              .role_count = 1, .role[0] = { .gpus = 2 } };
}

/* Amdahl at a tenth serial: 2 GPUs 1 / (0.1 + 0.45), 4 GPUs 1 / (0.1 + 0.225). */
static void sizes_follow_their_rule(void **state)
{
    static const uint32_t size[] = { 1, 2, 8 };
    static const double speed[] = { 1, 1.5, 3 };
    struct job_scaling linear = { SCALING_LINEAR, .gpus_min = 1, .gpus_max = 4 };
    struct job_scaling amdahl = { SCALING_AMDAHL, 1, 8, .serial_fraction = 0.1 };
    struct job_scaling table = { SCALING_TABLE, 1, 8, .gpus = size, .speedup = speed,
                                 .count = 3 };
    struct job_form form = form_of("f", &linear, NULL);
    struct job_request job = { .form = &form };

    (void)state;
    assert_true(about(scaling_speedup(&linear, 3), 3));
    assert_true(about(scaling_speedup(&amdahl, 2), 1 / 0.55));
    assert_true(about(scaling_speedup(&amdahl, 1), 1));
    assert_true(about(scaling_speedup(&table, 2), 1.5));
    assert_true(about(scaling_speedup(&table, 5), 1.5 + 0.5 * 1.5));
    assert_true(scaling_speedup(&table, 9) == 0 && about(scaling_speedup(&table, 8), 3));
    table.count = 1;
    assert_true(scaling_speedup(&table, 1) == 1 && scaling_speedup(&table, 2) == 0);
    table.count = 3;
    assert_true(about(speedup_of(&job, 0, 2), 1) && about(speedup_of(&job, 0, 4), 2));
    assert_true(speedup_size_ok(&job, 1) && speedup_size_ok(&job, 4));
    assert_false(speedup_size_ok(&job, 5));
    linear.gpus_min = 2;
    assert_false(speedup_size_ok(&job, 1));
    form.scaling = NULL;
    assert_true(about(speedup_of(&job, 0, 2), 1) && speedup_of(&job, 0, 3) == 0);
    assert_true(speedup_size_ok(&job, 2));
    assert_false(speedup_size_ok(&job, 3));
    form.scaling = &table;
    assert_true(about(speedup_of(&job, 1, 8), 3 / 1.5));
    assert_false(speedup_size_ok(&job, 9));
}

/* Rates of 1, 2 and 4 GPUs in two pools; length measured at a rate of 20. */
static void measured_rates_decide_over_rules(void **state)
{
    static const uint32_t size[] = { 1, 2, 4 };
    static const double rate[] = { 10, 5, 20, 8, 36, 0 };
    struct job_rates rates = { 3, 2, 3, size, rate, NULL, 0 };
    struct job_scaling by_rates = { SCALING_RATES, 1, 4, 0, NULL, NULL, 0 };
    struct job_scaling linear = { SCALING_LINEAR, .gpus_min = 1, .gpus_max = 8 };
    struct job_form form = form_of("f", &by_rates, NULL);
    struct job_request job = { .form = &form, .rates = &rates, .rate_known = 20 };

    (void)state;
    assert_true(about(speedup_of(&job, 0, 2), 1) && about(speedup_of(&job, 1, 2), 0.4));
    assert_true(about(speedup_of(&job, 0, 4), 1.8) && speedup_of(&job, 1, 4) == 0);
    assert_true(speedup_of(&job, 0, 3) == 0);
    assert_true(speedup_size_ok(&job, 1) && speedup_size_ok(&job, 4));
    assert_false(speedup_size_ok(&job, 3));
    /* A pool's rate times a rule's share where no row says both. */
    form.scaling = &linear;
    assert_true(about(speedup_of(&job, 1, 8), 0.4 * 4));
    rates.size_count = 1;
    rates.gpus++;
    rates.rate += 2;
    assert_true(about(speedup_of(&job, 1, 2), 0.4));
}

/* Beside kind b the job runs at 12 of 20 on two GPUs, beside itself at 8, and in the other pool
 * at 4 of 8 and not at all; on four GPUs at 30, which a job of two does not ask about. */
static void pairs_share_at_the_speed_that_was_measured(void **state)
{
    static const uint32_t size[] = { 1, 2, 4 };
    static const double rate[] = { 10, 5, 20, 8, 36, 0 };
    double with_b[] = { 12, 4 }, with_a[] = { 8, 0 }, with_b4[] = { 30, 0 };
    struct job_rates b = { 3, 2, 3, size, rate, NULL, 0 }, a = b;
    const struct job_beside beside[] = { { &b, 2, with_b }, { &a, 2, with_a },
                                         { &b, 4, with_b4 } };
    struct job_form form = form_of("f", NULL, NULL);

    (void)state;
    a.beside = beside;
    a.beside_count = 3;
    struct job_request one = { .form = &form, .rates = &a, .rate_known = 20 };
    struct job_request other = { .form = &form, .rates = &b, .rate_known = 20 };
    assert_true(about(speedup_beside(&one, &other, 0, 2), 0.6));
    assert_true(about(speedup_beside(&one, &other, 1, 2), 0.2));
    assert_true(about(speedup_beside(&one, &one, 0, 2), 0.4));
    assert_true(about(speedup_beside(&one, &other, 0, 4), 1.5));
    assert_true(speedup_beside(&one, &one, 0, 4) == 0);
    assert_true(about(speedup_beside_best(&one, 0, 2), 0.6));
    assert_true(about(speedup_beside_best(&one, 1, 2), 0.2));
    assert_true(about(speedup_beside_best(&one, 0, 4), 1.5));
    assert_true(speedup_beside_best(&one, 0, 1) == 0);
    /* Of 12 / 20, 4 / 8 and 8 / 20 the mean is a half. */
    assert_int_equal(speedup_share_class(&one), SHARE_JUMBO);
    with_b[0] = 19;
    with_b[1] = 7;
    with_a[0] = 17;
    assert_int_equal(speedup_share_class(&one), SHARE_MEDIUM);      /* 0.892 */
    with_b[0] = with_a[0] = 20;
    assert_int_equal(speedup_share_class(&one), SHARE_TINY);        /* 0.958 */
    assert_int_equal(speedup_share_class(&other), SHARE_NEVER);
}

/* Lucid's limits: a mean of 0.85 is medium, of 0.95 tiny. */
static void stated_pairs_share_by_the_names_of_forms(void **state)
{
    static const char *const name[] = { "g", "h" };
    double speed[] = { 0.5, 0.9 };
    struct job_packing packing = { name, speed, 2 };
    struct job_scaling linear = { SCALING_LINEAR, .gpus_min = 1, .gpus_max = 4 };
    struct job_form form = form_of("f", &linear, &packing), g = form_of("g", NULL, NULL);
    struct job_request one = { .form = &form }, other = { .form = &g };

    (void)state;
    assert_true(about(speedup_beside(&one, &other, 0, 2), 0.5));
    assert_true(about(speedup_beside(&one, &other, 0, 4), 1));
    assert_true(speedup_beside(&one, &one, 0, 2) == 0);
    assert_true(about(speedup_beside_best(&one, 0, 2), 0.9));
    assert_true(speedup_beside_best(&other, 0, 2) == 0);
    assert_int_equal(speedup_share_class(&one), SHARE_JUMBO);
    speed[0] = 0.8;
    speed[1] = 0.9;
    assert_int_equal(speedup_share_class(&one), SHARE_MEDIUM);
    speed[0] = 0.96;
    speed[1] = 0.95;
    assert_int_equal(speedup_share_class(&one), SHARE_TINY);
    assert_int_equal(speedup_share_class(&other), SHARE_NEVER);
}

/* "a100" is several entries: the one with most memory is meant, and all are named; a full name
 * means itself. */
static void a_family_means_its_largest_card(void **state)
{
    struct law_aids aids = law_aids_new();
    char others[256];

    (void)state;
    const struct gpu_type *guess = catalogue_gpu_guess(aids.catalogue, "a100", others,
                                                       sizeof others);
    assert_non_null(guess);
    assert_string_equal(guess->name, "a100-80");
    assert_non_null(strstr(others, "a100-40"));
    assert_non_null(strstr(others, " or "));
    guess = catalogue_gpu_guess(aids.catalogue, "a100-40", others, sizeof others);
    assert_non_null(guess);
    assert_string_equal(guess->name, "a100-40");
    assert_string_equal(others, "");
    assert_null(catalogue_gpu_guess(aids.catalogue, "nothing", others, sizeof others));
    law_aids_free(&aids);
}

/* Ten seconds of video at 5 Mb/s are 6.25 MB, and 224 x 224 x 3 bytes a second on the GPU;
 * decoded at 5.1 times real time. */
static void items_have_the_bytes_of_their_format(void **state)
{
    struct loader_item video = loader_item(LOADER_VIDEO, 10);
    struct loader_item image = loader_item(LOADER_IMAGE, 1000);

    (void)state;
    assert_true(about(video.storage_bytes, 6.25e6));
    assert_true(about(video.gpu_bytes, 10.0 * 224 * 224 * 3));
    assert_true(about(video.core_s, 10 / 5.1));
    assert_true(video.reads == 1 && video.handover_s > 0 && video.collect_s > 0);
    assert_true(about(image.gpu_bytes, 3000));
    assert_true(loader_item(LOADER_TOKENS, 100).reads == 0);
    assert_true(loader_item(LOADER_TEXT, 100).handover_s == 0);
}

static void every_phase_and_status_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int a = 0; a < PHASE_KIND_COUNT; a++)
        for (int b = 0; b < a; b++)
            assert_string_not_equal(phase_kind_name((enum phase_kind)a),
                                    phase_kind_name((enum phase_kind)b));
    for (int a = 0; a < JOB_STATUS_COUNT; a++)
        for (int b = 0; b < a; b++)
            assert_string_not_equal(job_status_name((enum job_status)a),
                                    job_status_name((enum job_status)b));
    assert_string_equal(phase_kind_name(PHASE_ROLLOUT), "rollout");
    assert_string_equal(job_status_name(JOB_UNFINISHED), "unfinished");
}

static void a_request_overrides_the_gpus_of_its_first_role_only(void **state)
{
    (void)state;
    struct job_form form = { .role_count = 2,
                             .role = { { .gpus = 4 }, { .gpus = 2 } } };
    struct job_request request = { .form = &form };
    assert_int_equal(job_role_gpus(&request, 0), 4);
    request.gpus = 16;
    assert_int_equal(job_role_gpus(&request, 0), 16);
    assert_int_equal(job_role_gpus(&request, 1), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_follow_their_rule),
        cmocka_unit_test(measured_rates_decide_over_rules),
        cmocka_unit_test(pairs_share_at_the_speed_that_was_measured),
        cmocka_unit_test(stated_pairs_share_by_the_names_of_forms),
        cmocka_unit_test(a_family_means_its_largest_card),
        cmocka_unit_test(items_have_the_bytes_of_their_format),
        cmocka_unit_test(every_phase_and_status_has_a_name_of_its_own),
        cmocka_unit_test(a_request_overrides_the_gpus_of_its_first_role_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
