/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_sizes.c - jobs drawn and counted, times what each of them writes.
 *
 * Jobs of seed 0 are drawn until there are enough (DRAWN_MAX over all points);
 * what comes later is extrapolated by time or by the stated number of jobs.  An
 * estimate within some 10% suffices: the question is whether a disk can hold
 * the tables.
 */
#include "experiments/preflight/table_sizes.h"

#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/spec/experiment.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "workloads/jobs/birth.h"
#include "workloads/source.h"

#define DRAWN_MAX 200000u       /* jobs, over all points */
#define DRAWN_MIN 2000u         /* of each point */
#define INTERVALS 300.0         /* of timeline.csv: 200 to 400 */

/* Bytes of usual rows, without the names of point and policy. */
static const double row_bytes[SIZED_COUNT] = { 160, 100, 65, 75 };
static const uint32_t asked[SIZED_COUNT] = {
    EXPERIMENT_JOBS, EXPERIMENT_PHASES, EXPERIMENT_TIMELINE, EXPERIMENT_DECISIONS
};
static const struct csv_kind *const kind[SIZED_COUNT] = {
    &csv_jobs, &csv_phases, &csv_timeline, &csv_decisions
};

/* What one seed of a point will meet. */
struct drawn {
    double jobs, phases;        /* jobs that come, and runs of their phases */
};

/* Returns how many rows of phases.csv the job will write. */
static double count_phases(const struct job_request *request)
{
    const struct job_form *form = request->form;
    double runs = 0;

    for (uint32_t p = 0; p < form->phase_count; p++)
        runs += phase_runs(&form->phase[p], request->steps);
    return runs;
}

/* Returns when jobs stop to come, or CLOCK_NEVER_NS. */
static int64_t find_end_ns(const struct experiment *experiment,
                           const struct experiment_point *point)
{
    int64_t for_ns = workload_for_ns(point->workload);

    return for_ns < experiment->until_ns ? for_ns : experiment->until_ns;
}

/* Returns how many jobs there will be, from those that were drawn until last_ns.
 * Those of a trace are counted; a stream that goes on until a time goes on as it
 * did so far, to at most what `jobs:` says. */
static double estimate_jobs(const struct experiment *experiment,
                            const struct experiment_point *point, double drawn,
                            int64_t last_ns)
{
    const struct workload_spec *workload = point->workload;
    double most = (double)workload_jobs(workload), all = most;
    int64_t end_ns = find_end_ns(experiment, point);

    if (workload_counts(workload).jobs == 0 && end_ns != CLOCK_NEVER_NS &&
        last_ns > 0)
        all = drawn * (double)end_ns / (double)last_ns;
    if (most > 0)
        all = fmin(all, most);
    return fmax(drawn, all);
}

/* Returns whether enough jobs are drawn.  If the number of jobs is not known,
 * only a much larger number is enough. */
static bool has_enough(const struct experiment *experiment,
                       const struct experiment_point *point, double drawn)
{
    double most = fmax(DRAWN_MIN, DRAWN_MAX / experiment->point_count);

    return drawn >= most &&
           (find_end_ns(experiment, point) != CLOCK_NEVER_NS ||
            workload_jobs(point->workload) > 0 ||
            drawn >= 10.0 * DRAWN_MAX);
}

/* Counts the jobs of seed 0 of a point and their runs of phases. */
static struct drawn draw_jobs(const struct experiment *experiment,
                              const struct experiment_point *point)
{
    struct arena *arena = arena_new((size_t)1 << 16);
    struct source *source = source_open(arena, point->workload, experiment->seed, 0);
    struct drawn drawn = { 0, 0 };
    struct job_birth birth;
    struct err ignored = { 0 };
    int64_t last_ns = 0;
    bool cut = false;

    while (source_next(source, &birth, &ignored) == SOURCE_JOB &&
           birth.request.submit_ns < experiment->until_ns) {
        cut = has_enough(experiment, point, drawn.jobs);
        if (cut)
            break;
        drawn.jobs++;
        drawn.phases += count_phases(&birth.request);
        last_ns = birth.request.submit_ns;
    }
    arena_free(arena);
    if (cut && drawn.jobs > 0) {
        double all = estimate_jobs(experiment, point, drawn.jobs, last_ns);
        drawn.phases *= all / drawn.jobs;
        drawn.jobs = all;
    }
    return drawn;
}

/* Returns the rows of a table of one trial. A policy that decides per phase asks
 * once a phase. */
static double trial_rows(const struct experiment_point *at, uint32_t policy,
                         const struct drawn *drawn, enum sized_table t)
{
    bool per_phase = at->policy[policy]->policy->flags & CS_PER_PHASE;

    switch (t) {
    case SIZED_JOBS: return drawn->jobs;
    case SIZED_PHASES: return drawn->phases;
    case SIZED_TIMELINE: return INTERVALS * at->cluster->pool_count;
    default: return per_phase ? drawn->phases : drawn->jobs;
    }
}

/* Adds the rows of all policies at a point.  jobs.csv has all seeds, the others
 * the detailed ones. */
static void add_point(struct table_sizes *sizes, const struct experiment *experiment,
                      uint32_t point, const struct drawn *drawn)
{
    const struct experiment_point *all = &experiment->point[point];

    for (uint32_t p = 0; p < experiment->policy_count; p++) {
        const struct experiment_point *met = all->met[p];
        struct drawn own = *drawn;
        if (met->workload != all->workload && drawn->jobs > 0)
            own = draw_jobs(experiment, met);   /* the layout has its phases */
        for (int t = 0; t < SIZED_COUNT; t++) {
            double rows = trial_rows(met, p, &own, (enum sized_table)t) *
                          (t == SIZED_JOBS ? experiment->seeds
                                           : experiment->detail_seeds);
            if (!(experiment->tables & asked[t]))
                continue;
            sizes->rows[t] += rows;
            sizes->bytes[t] += rows *
                (row_bytes[t] + (double)strlen(experiment->point[point].label) +
                 (double)strlen(experiment->policy_name[p]));
        }
    }
}

/* Draws the jobs of seed 0 where a table has rows of jobs.  Points of one workload share the
 * draw. */
struct table_sizes table_sizes_of(struct arena *arena,
                                  const struct experiment *experiment)
{
    struct table_sizes sizes = { { 0 }, { 0 }, 0 };
    struct drawn *drawn = arena_alloc(arena, experiment->point_count + 1,
                                      sizeof *drawn);

    if (experiment->tables & (EXPERIMENT_JOBS | EXPERIMENT_PHASES | EXPERIMENT_DECISIONS))
        for (uint32_t p = 0; p < experiment->point_count; p++) {
            /* Points of one workload meet the same jobs. */
            bool same = p > 0 && experiment->point[p].workload ==
                                     experiment->point[p - 1].workload;
            drawn[p] = same ? drawn[p - 1] : draw_jobs(experiment, &experiment->point[p]);
        }
    for (uint32_t p = 0; p < experiment->point_count; p++)
        add_point(&sizes, experiment, p, &drawn[p]);
    for (int t = 0; t < SIZED_COUNT; t++)
        sizes.all_bytes += sizes.bytes[t];
    return sizes;
}

/* Prints a size, as "570 MB" or "1.3 GB". */
static void print_bytes(FILE *file, double bytes)
{
    if (bytes >= 1e9)
        fprintf(file, "%.1f GB", bytes / 1e9);
    else if (bytes >= 1e7)
        fprintf(file, "%.0f MB", bytes / 1e6);
    else
        fprintf(file, "%.2g MB", bytes / 1e6);
}

/* Says nothing of tables that are small together: below TABLE_SIZES_SMALL bytes. */
void table_sizes_print(FILE *file, const struct experiment *experiment,
                       const struct table_sizes *sizes)
{
    if (sizes->all_bytes < TABLE_SIZES_SMALL)
        return;
    fputs("tables will take about ", file);
    print_bytes(file, sizes->all_bytes);
    fputs(", and twice that until they are put together:\n", file);
    for (int t = 0; t < SIZED_COUNT; t++) {
        if (!(sizes->rows[t] > 0))
            continue;
        fprintf(file, "  %-13s  %12.0f rows, ", kind[t]->file,
                sizes->rows[t]);
        print_bytes(file, sizes->bytes[t]);
        if (t == SIZED_JOBS)
            fputs(", of all seeds\n", file);
        else
            fprintf(file, ", of %u of %u seeds\n", experiment->detail_seeds,
                    experiment->seeds);
    }
    fputs("  Estimated from the jobs of seed 0 of each point, their phases "
          "and steps;\n  failures and preemption add rows.  `output: "
          "{tables: [..], detail_seeds: N}`\n  chooses.\n", file);
}
