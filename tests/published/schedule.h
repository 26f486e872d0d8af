/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schedule.h - whole schedules of the product, for a comparison with those of a second program.
 */
#ifndef TESTS_PUBLISHED_SCHEDULE_H
#define TESTS_PUBLISHED_SCHEDULE_H

#include <math.h>
#include <unistd.h>

#include "tests/aid/world.h"

/* Runs the experiment in the folder of the world, whose files are there, and drops it; `file` is
 * one that the world does not know. */
static inline void schedule_run(struct world *world, const char *experiment, const char *file,
                                struct world_job *job)
{
    char path[256];

    if (!world_open(world, experiment) || !world_run(world, 0, NULL, job, NULL))
        fail_msg("%s %s\n%s", world_error(world), world->err.hint, experiment);
    snprintf(path, sizeof path, "%s/%s", world->folder, file);
    unlink(path);
    world_close(world);
}

/* Each time is one of the second program, but for rounding, seconds: fails otherwise. */
static inline void schedule_check(int at, const char *policy, uint32_t j,
                                  const struct world_job *job, double start_s, double end_s)
{
    if (fabs(job->start_s - start_s) > 1e-5 || fabs(job->end_s - end_s) > 1e-5)
        fail_msg("world %d, %s, job %u: %.6f to %.6f s, by its description %.6f to %.6f", at,
                 policy, j, job->start_s, job->end_s, start_s, end_s);
}

#endif
