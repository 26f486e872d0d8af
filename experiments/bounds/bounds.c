/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bounds.c - lower bounds by relaxation: one fluid machine in the place of all
 * GPUs, simulated with a binary heap of the jobs that wait.
 *
 * Sums of a hundred thousand times are rounded; a bound is lowered by one part
 * in 10^9, so that rounding cannot lift it above the schedule that attains it.
 */
#include "experiments/bounds/bounds.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/base/arena.h"
#include "sim/containers/lazy_heap.h"

/* The part by which each bound is lowered. */
#define ROUNDING 1e-9

/* The fluid machine, which serves one job at a time with the speed of all GPUs. */
struct fluid {
    struct lazy_heap waits;     /* jobs, least first of what by_whole says */
    double *left_s;             /* by job: time it still takes of the machine */
    bool by_whole;              /* its whole work, not what is left */
    double sum_s;               /* of ends, or of mean instants of work */
};

/* Adds a job to the heap of waiting jobs, whose top is the job with the least key. */
static void push(struct fluid *f, size_t job, double key)
{
    lazy_heap_push(&f->waits,
                   (struct lazy_heap_item){ .key = key, .id = (uint32_t)job },
                   NULL, NULL);
}

/* Returns how long a job takes if it has all GPUs for itself, its work being the
 * same.  Example: a job of 100 s on 4 GPUs takes 100 x 4 / 8 = 50 s of a machine of 8 GPUs. */
static double machine_s(const struct bounds_job *job, double gpus)
{
    return job->length_s * job->gpus / gpus;
}

/* Serves the waiting from `from` until `until`; the time then.  The job at the top is served
 * until it ends or until `until`.  With by_whole the key stays the job's whole work, and each
 * part that is served adds its middle instant, weighted by the part it is of that work.
 * Otherwise the key is the work left, and a job adds the instant at which it ends. */
static double serve(struct fluid *f, const struct bounds_job *job,
                    double gpus, double from, double until)
{
    const struct lazy_heap_item *top;

    while (from < until &&
           (top = lazy_heap_top(&f->waits, NULL, NULL)) != NULL) {
        uint32_t j = top->id;
        double part_s = fmin(f->left_s[j], until - from);
        double whole_s = machine_s(&job[j], gpus);
        bool ends = part_s >= f->left_s[j];

        if (f->by_whole)
            f->sum_s += whole_s > 0
                      ? (from + part_s / 2) * (part_s / whole_s) : from;
        else if (ends)
            f->sum_s += from + part_s;
        from += part_s;
        f->left_s[j] -= part_s;
        if (ends)
            lazy_heap_pop(&f->waits);
        else if (!f->by_whole)
            lazy_heap_lower(&f->waits, f->left_s[j]);
    }
    return from;
}

/* Sum over jobs of their ends on the fluid machine, or of the mean instants
 * of their work.  Example: on one GPU, jobs of 10 s and 20 s that both came at 0 end at 10 s
 * and 30 s, so the sum of ends is 40 s.  The mean instants of their work are 5 s and 20 s, so
 * that sum is 25 s. */
static double fluid_sum(const struct bounds_job *job, size_t count,
                        double gpus, bool by_whole)
{
    struct fluid f = {
        .left_s = arena_resize_own(NULL, count, sizeof *f.left_s),
        .by_whole = by_whole
    };
    double now = count > 0 ? job[0].submit_s : 0;

    for (size_t j = 0; j < count; j++) {
        double work_s = machine_s(&job[j], gpus);

        serve(&f, job, gpus, now, job[j].submit_s);
        now = job[j].submit_s;
        f.left_s[j] = work_s;
        push(&f, j, work_s);
    }
    serve(&f, job, gpus, now, INFINITY);
    lazy_heap_release(&f.waits);
    free(f.left_s);
    return f.sum_s;
}

/* Returns a bound of the makespan in seconds: for each job, all work that came with
 * it or later cannot be done before it came.  One pass from the last job to the
 * first.  Example: on 2 GPUs, a job of 10 s on 2 GPUs at 0 and one of 30 s on 1 GPU at 5 s:
 * the second cannot end before 35 s, nor can the first and the second together before 10 + 15
 * = 25 s; the bound is 35 s. */
static double makespan(const struct bounds_job *job, size_t count,
                       double gpus)
{
    double after_s = 0, end_s = 0;

    for (size_t j = count; j-- > 0;) {
        after_s += machine_s(&job[j], gpus);
        end_s = fmax(end_s, job[j].submit_s +
                            fmax(job[j].length_s, after_s));
    }
    return end_s - job[0].submit_s;
}

/* The sum of completion times is the sum of ends less the sum of submissions.  With mean
 * instants of work, half the length of each job is added first, since a job ends at least
 * that much after the mean instant of its work. */
struct bounds bounds_of(const struct bounds_job *job, size_t count,
                        double gpus)
{
    double submits_s = 0, lengths_s = 0, most_s;

    assert(gpus > 0);
    if (count == 0 || count > BOUNDS_JOBS_MAX)
        return (struct bounds) { 0 };
    for (size_t j = 0; j < count; j++) {
        assert(j == 0 || job[j].submit_s >= job[j - 1].submit_s);
        assert(job[j].length_s >= 0 && job[j].gpus >= 0);
        submits_s += job[j].submit_s;
        lengths_s += job[j].length_s;
    }
    most_s = fmax(lengths_s, fluid_sum(job, count, gpus, false) -
                             submits_s);
    most_s = fmax(most_s, fluid_sum(job, count, gpus, true) +
                          lengths_s / 2 - submits_s);
    return (struct bounds) {
        most_s / (double)count * (1 - ROUNDING),
        makespan(job, count, gpus) * (1 - ROUNDING),
    };
}
