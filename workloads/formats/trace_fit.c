/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_fit.c - distributions of a trace: gaps of arrivals, sizes, run times.
 *
 * Sizes of at least ENTRY_JOBS_MIN jobs get an entry of their own with fitted
 * run times, the most frequent first, up to TRACE_FIT_ENTRIES_MAX; the rest
 * share one.  Where no family is near enough, the sample itself is kept
 * (empirical). All arrays live in the arena.
 */
#include "workloads/formats/trace_fit.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/stats/stats.h"
#include "workloads/formats/import.h"

#define JOBS_MIN 10u            /* of a trace, and of an entry whose run times are
                                   fitted */
/* assumption: fewer jobs than this do not tell a distribution of their own */
#define ENTRY_JOBS_MIN 50u
/* A fit is not taken if it is further off anywhere than 0.05 (assumption), and
 * than chance, which exceeds 1.36 / sqrt(n) once in twenty where parameters are
 * given (Kolmogorov's law; D'Agostino and Stephens 1986, table 4.2). */
#define KS_MAX 0.05
#define KS_CHANCE 1.36
#define DAY_S 86400.0

/* More jobs first; then the smaller size. */
static int compare_jobs(const void *left, const void *right)
{
    const struct trace_fit_size *a = left, *b = right;

    if (a->jobs != b->jobs)
        return a->jobs > b->jobs ? -1 : 1;
    return a->gpu_milli < b->gpu_milli ? -1 : a->gpu_milli > b->gpu_milli;
}

/* The smaller size first. */
static int compare_sizes(const void *left, const void *right)
{
    const struct trace_fit_size *a = left, *b = right;

    return a->gpu_milli < b->gpu_milli ? -1 : a->gpu_milli > b->gpu_milli;
}

/* ---- sizes ------------------------------------------------------------- */

/* Returns the GPUs of a job in thousandths: its part of a GPU, or its whole
 * GPUs. */
static int64_t milli_of(const struct import_job *job)
{
    return job->gpu_milli > 0 ? job->gpu_milli : 1000 * job->gpus;
}

/* Returns the sizes of all jobs in ascending order, each with its number of
 * jobs.  *count is how many different sizes there are. */
static struct trace_fit_size *count_sizes(struct arena *arena,
                                          const struct import_result *result,
                                          size_t *count)
{
    struct trace_fit_size *size = arena_alloc(arena, result->count,
                                              sizeof *size);
    size_t n = 0;

    for (size_t i = 0; i < result->count; i++)
        size[i] = (struct trace_fit_size){milli_of(&result->job[i]), 1};
    qsort(size, result->count, sizeof *size, compare_sizes);
    for (size_t i = 0; i < result->count; i++)
        if (n > 0 && size[n - 1].gpu_milli == size[i].gpu_milli)
            size[n - 1].jobs++;
        else
            size[n++] = size[i];
    *count = n;
    return size;
}

/* Is the size one of the entry's? */
static bool has_size(const struct trace_fit_entry *entry, int64_t gpu_milli)
{
    for (size_t i = 0; i < entry->size_count; i++)
        if (entry->size[i].gpu_milli == gpu_milli)
            return true;
    return false;
}

/* Fits the run times of the entry's jobs.  If all are equal there is nothing to
 * fit, and the entry is a constant.  The sample itself is kept (`empirical`)
 * where there are too few jobs, or where no family is near enough. */
static void fit_entry(struct arena *arena, const struct import_result *result,
                      struct trace_fit_entry *entry)
{
    double *run_s;
    size_t n = 0;

    for (size_t i = 0; i < entry->size_count; i++)
        entry->jobs += entry->size[i].jobs;
    run_s = arena_alloc(arena, entry->jobs, sizeof *run_s);
    for (size_t i = 0; i < result->count; i++)
        if (has_size(entry, milli_of(&result->job[i])))
            run_s[n++] = clock_s_from_ns(result->job[i].run_ns);
    assert(n == entry->jobs);
    qsort(run_s, n, sizeof *run_s, stats_order);
    entry->run_s = run_s;
    if (!(run_s[0] < run_s[n - 1]))
        return;
    entry->empirical =
        n < JOBS_MIN ||
        !likelihood_best(run_s, n, entry->run.fit, entry->run.good,
                         &entry->run.best) ||
        entry->run.fit[entry->run.best].ks >
            fmax(KS_MAX, KS_CHANCE / sqrt((double)n));
}

/* Makes an entry for each frequent size, and one for all others together.
 * Sizes are first sorted by their number of jobs, to find the frequent ones,
 * and then each part by size. */
static void make_entries(struct arena *arena,
                         const struct import_result *result,
                         struct trace_fit *out)
{
    size_t count, alone = 0;
    struct trace_fit_size *size = count_sizes(arena, result, &count);

    qsort(size, count, sizeof *size, compare_jobs);
    while (alone < count && alone + 1 < TRACE_FIT_ENTRIES_MAX &&
           size[alone].jobs >= ENTRY_JOBS_MIN)
        alone++;
    qsort(size, alone, sizeof *size, compare_sizes);
    if (alone < count)
        qsort(size + alone, count - alone, sizeof *size, compare_sizes);
    out->entry = arena_alloc(arena, alone + 1, sizeof *out->entry);
    for (size_t i = 0; i < alone; i++)
        out->entry[out->entries++] =
            (struct trace_fit_entry){.size = &size[i], .size_count = 1};
    if (alone < count)
        out->entry[out->entries++] = (struct trace_fit_entry){
            .size = size + alone, .size_count = count - alone};
    for (size_t i = 0; i < out->entries; i++)
        fit_entry(arena, result, &out->entry[i]);
}

/* ---- arrivals ---------------------------------------------------------- */

/* First harmonic of the time of day: for a rate that follows 1 + A cos, the
 * mean of e^(i w t) is A / 2 at the peak's angle. */
static void find_day(const struct import_result *result,
                     struct trace_fit *out)
{
    double turn = 2.0 * acos(-1.0), x = 0.0, y = 0.0, angle;

    for (size_t i = 0; i < result->count; i++) {
        double s = clock_s_from_ns(result->job[i].submit_ns);

        x += cos(turn * s / DAY_S);
        y += sin(turn * s / DAY_S);
    }
    x /= (double)result->count;
    y /= (double)result->count;
    out->day_amplitude = fmin(1.0, 2.0 * sqrt(x * x + y * y));
    angle = atan2(y, x);
    out->day_peak_s = (angle < 0.0 ? angle + turn : angle) / turn * DAY_S;
}

/* Fits the gaps between submissions.  A gap of 0 has no logarithm, so it counts
 * as half of the smallest other gap, as if times had been rounded to that.  The
 * cv is that of a gamma distribution where this fits better than an exponential
 * one by Akaike's criterion, else 1. */
static void fit_gaps(struct arena *arena, const struct import_result *result,
                     struct trace_fit *out)
{
    size_t n = result->count - 1;
    double *gap_s = arena_alloc(arena, n, sizeof *gap_s);
    const struct likelihood *gamma = &out->gap.fit[LIKELIHOOD_GAMMA];

    for (size_t i = 0; i < n; i++)
        gap_s[i] = clock_s_from_ns(result->job[i + 1].submit_ns -
                                   result->job[i].submit_ns);
    qsort(gap_s, n, sizeof *gap_s, stats_order);
    while (gap_s[out->zero_gaps] <= 0.0)
        out->zero_gaps++;
    for (size_t i = 0; i < out->zero_gaps; i++)
        gap_s[i] = gap_s[out->zero_gaps] / 2.0;
    likelihood_best(gap_s, n, out->gap.fit, out->gap.good, &out->gap.best);
    out->gap_cv = 1.0;
    if (out->gap.good[LIKELIHOOD_GAMMA] &&
        gamma->aic < out->gap.fit[LIKELIHOOD_EXPONENTIAL].aic)
        out->gap_cv = 1.0 / sqrt(gamma->a);
}

/* Returns the jobs that ask for GPUs.  The recipe of a fit cannot generate the
 * others, which are counted. */
static struct import_result select_with_gpus(struct arena *arena,
                                             const struct import_result *all)
{
    struct import_result some = {
        .job = arena_alloc(arena, all->count, sizeof *some.job)};

    for (size_t i = 0; i < all->count; i++)
        if (milli_of(&all->job[i]) > 0)
            some.job[some.count++] = all->job[i];
    return some;
}

/* Fits arrivals and kinds of jobs to those jobs that use GPUs.  Gaps are
 * counted from the first submission to the last. */
bool trace_fit_make(struct arena *arena, const struct import_result *all,
                    const char *file, struct trace_fit *out,
                    struct err *err)
{
    const struct import_result some = select_with_gpus(arena, all), *result = &some;
    struct err_pos pos = {file, 0, 0};
    double span_s;

    memset(out, 0, sizeof *out);
    out->without_gpus = all->count - result->count;
    if (result->count < JOBS_MIN)
        return err_set(err, ERR_RANGE, pos, "%zu jobs are too few for a fit: "
                       "at least %u are needed", result->count, JOBS_MIN);
    span_s = clock_s_from_ns(result->job[result->count - 1].submit_ns -
                             result->job[0].submit_ns);
    if (!(span_s > 0.0))
        return err_set(err, ERR_RANGE, pos,
                       "all jobs are submitted at once: there are no gaps "
                       "to fit");
    out->rate_per_s = (double)(result->count - 1) / span_s;
    fit_gaps(arena, result, out);
    find_day(result, out);
    make_entries(arena, result, out);
    return true;
}
