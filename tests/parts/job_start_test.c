/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job_start_test.c - when a job has started: with its first GPUs, and not with cores that prepare
 * its data meanwhile.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/world.h"

#define JOBS 4

/* One node of four GPUs, and four jobs at once which need them all; each has cores for its data. */
static const char text[] =
    "experiment: t\nseeds: 1\nuntil: drained\n"
    "cluster: {nodes: [{name: n, count: 1, gpus: {type: a100-80, count: 4}, cpu: {type: epyc-7763, "
    "sockets: 2}, memory: 512GB}], storage: {bandwidth: 10GB/s}}\n"
    "workload: {arrival: {process: all_at_once}, jobs: 4, mix: [{recipe: lora, name: g, model: "
    "qwen2.5-1.5b, batch: 8, sequence: 512, steps: 10, data: {cores: 4}, train: {gpus: 4}}]}\n"
    "policies: [dynamic, static, hybrid, fcfs]\n";

/* Field `at` of a row, from 0. */
static const char *field_of(const char *row, int at)
{
    for (; at > 0; at--)
        row = strchr(row, ',') + 1;
    return row;
}

/* The least start of a phase of the job on GPUs, or on cores alone. */
static double first_phase_s(const struct table *phases, int job, bool gpus)
{
    size_t bytes;
    const char *row = table_bytes(phases, &bytes), *end = row + bytes;
    double least = INFINITY;

    for (; row < end; row = strchr(row, '\n') + 1)
        if (atoi(field_of(row, 3)) == job && (atoi(field_of(row, 8)) > 0) == gpus)
            least = fmin(least, atof(field_of(row, 6)));
    return least;
}

static void a_job_starts_with_its_gpus(void **state)
{
    struct world world = { 0 };

    (void)state;
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    for (uint32_t i = 0; i < experiment_trial_count(world.experiment); i++) {
        struct trial_spec spec = experiment_trial_spec(world.experiment, i);
        struct trial_tables tables = {
            .jobs = table_new(csv_jobs.columns, csv_jobs.count),
            .phases = table_new(csv_phases.columns, csv_phases.count),
        };
        struct trial_result result;
        struct world_job job[JOBS] = { { 0, 0, 0, 0, 0 } };
        size_t bytes;

        if (!trial_run(&spec, &tables, &result, &world.err))
            fail_msg("%s", world_error(&world));
        const char *rows = table_bytes(tables.jobs, &bytes);
        for (const char *at = rows; at < rows + bytes; at = strchr(at, '\n') + 1)
            world_job_row(at, job);
        for (int j = 0; j < JOBS; j++) {
            double before = j > 0 ? job[j - 1].end_s : 0;
            if (fabs(job[j].start_s - before) > 1e-6)
                fail_msg("%s: job %d starts at %g s, and GPUs are free at %g s",
                         spec.policy->name, j, job[j].start_s, before);
            assert_true(first_phase_s(tables.phases, j, true) >= job[j].start_s);
        }
        /* Where policies lease to phases, data is prepared while the GPUs are another job's. */
        double data_s = first_phase_s(tables.phases, 1, false);
        if ((data_s < job[1].start_s) !=
            ((spec.policy->policy->flags & CS_PER_PHASE) != 0))
            fail_msg("%s: data from %g s on", spec.policy->name, data_s);
        table_free(tables.jobs);
        table_free(tables.phases);
    }
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_starts_with_its_gpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
