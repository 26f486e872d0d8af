/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demand_kinds_test.c - the kinds of jobs that placement is told of, beside a count of the jobs
 * of the stream.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "tests/aid/workload_aid.h"
#include "workloads/replay/trace.h"

#define JOBS_MAX 3000u

static struct job_birth birth[JOBS_MAX];

static uint32_t parts_of(const struct job_request *request)
{
    return job_role_gpus(request, 0) > 0 ? job_role_milli(request, 0) : 0;
}

/* Kinds come in the order of their first jobs, each once, with the jobs of that kind. */
static void check_kinds(struct aid *aid, const char *text)
{
    const struct workload_spec *spec = aid_workload(aid, "w.yaml", text);
    const struct place_demand *demand;
    size_t count, found = 0;

    if (spec == NULL)
        fail_msg("%s", aid_message(aid));
    for (uint64_t seed = 1; seed <= 4; seed++) {
        size_t jobs = aid_jobs(aid, spec, seed, TRACE_AS_FILED, birth, JOBS_MAX);
        if (jobs > DEMAND_DRAWN)
            jobs = DEMAND_DRAWN;
        assert_true(workload_demand(aid->arena, spec, seed, &demand, &count, &aid->err));
        found = 0;
        for (size_t i = 0; i < jobs; i++) {
            const struct job_request *request = &birth[i].request;
            uint64_t alike = 0;
            bool first = true;
            for (size_t j = 0; j < jobs; j++) {
                const struct job_request *other = &birth[j].request;
                bool same = job_role_gpus(request, 0) == job_role_gpus(other, 0) &&
                            parts_of(request) == parts_of(other) &&
                            request->form->role[0].cores == other->form->role[0].cores &&
                            request->form->role[0].gpu_types == other->form->role[0].gpu_types;
                alike += same;
                first = first && !(same && j < i);
            }
            if (!first)
                continue;
            const struct role_spec *role = &request->form->role[0];
            const struct place_demand *kind = &demand[found++];
            uint32_t gpus = job_role_gpus(request, 0);
            assert_true(found <= count && kind->jobs == alike);
            assert_true(kind->task.gpus == gpus && kind->task.gpu_milli == parts_of(request));
            assert_true(kind->task.core_milli == (int64_t)role->cores *
                        (gpus > 0 ? gpus * parts_of(request) : 1000));
            assert_true(kind->gpu_type_count == role->gpu_type_count);
        }
        assert_int_equal(found, count);
    }
    assert_true(found > 1);
}

static void kinds_are_counted_as_jobs_come(void **state)
{
    static const char *const texts[] = {
        "arrival: {process: poisson, rate: 40/h}\njobs: 300\nmix: [{recipe: trace, gpus: {choice: "
        "{0.25: 2, 0.5: 1, 1: 3, 2: 1, 4: 1}}, duration: 1h}]\n",
        "arrival: {process: poisson, rate: 40/h}\njobs: 400\nmix:\n"
        "- {recipe: trace, name: a, gpus: {choice: {1: 1, 2: 1}}, duration: 1h}\n"
        "- {recipe: trace, name: b, gpus: 2, duration: 1h, role: {types: [a10]}}\n"
        "- {recipe: trace, name: c, gpus: {choice: {1: 1, 2: 1}}, duration: 2h, "
        "role: {cores: 2}}\n",
        "arrival: {process: poisson, rate: 40/h}\njobs: 2900\nmix: [{recipe: trace, gpus: {choice: "
        "{1: 9, 8: 1}}, duration: 1h}]\n",
    };
    struct aid aid;

    (void)state;
    aid_open(&aid);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_kinds(&aid, texts[i]);
    aid_close(&aid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_counted_as_jobs_come),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
