/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job_test.c - names that results print, and how many GPUs a role asks for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/jobs/job.h"

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
        cmocka_unit_test(every_phase_and_status_has_a_name_of_its_own),
        cmocka_unit_test(a_request_overrides_the_gpus_of_its_first_role_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
