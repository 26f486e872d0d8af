/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bounds.c - lower bounds by relaxation: one fluid machine in the place of all
 * GPUs, simulated with a binary heap of the jobs that wait.
 *
 * Sums of a hundred thousand times are rounded; a bound is lowered by one part
 * in 10^9, so that rounding cannot lift it above the schedule that attains it.
 */
#include "experiments/run/bounds.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/base/arena.h"

#define ROUNDING 1e-9

struct entry {
    double key, left_s;         /* order; time it still takes of the machine */
    size_t job;
};

struct fluid {
    struct entry *heap;
    size_t count;
    bool by_whole;              /* key: its whole work, not what is left */
    double sum_s;               /* of ends, or of mean instants of work */
};

static bool before(const struct entry *a, const struct entry *b)
{
    return a->key < b->key || (a->key == b->key && a->job < b->job);
}

static void push(struct fluid *f, struct entry entry)
{
    size_t i = f->count++;

    for (; i > 0 && before(&entry, &f->heap[(i - 1) / 2]); i = (i - 1) / 2)
        f->heap[i] = f->heap[(i - 1) / 2];
    f->heap[i] = entry;
}

static struct entry pop(struct fluid *f)
{
    struct entry top = f->heap[0], last = f->heap[--f->count];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < f->count) {
        if (child + 1 < f->count &&
            before(&f->heap[child + 1], &f->heap[child]))
            child++;
        if (!before(&f->heap[child], &last))
            break;
        f->heap[i] = f->heap[child];
        i = child;
    }
    f->heap[i] = last;
    return top;
}

static double machine_s(const struct bounds_job *job, double gpus)
{
    return job->length_s * job->gpus / gpus;
}

/* Serves the waiting from `from` until `until`; the time then. */
static double serve(struct fluid *f, const struct bounds_job *job,
                    double gpus, double from, double until)
{
    while (f->count > 0 && from < until) {
        struct entry e = pop(f);
        double part_s = fmin(e.left_s, until - from);
        double whole_s = machine_s(&job[e.job], gpus);
        bool ends = part_s >= e.left_s;

        if (f->by_whole)
            f->sum_s += whole_s > 0
                      ? (from + part_s / 2) * (part_s / whole_s) : from;
        else if (ends)
            f->sum_s += from + part_s;
        from += part_s;
        e.left_s -= part_s;
        if (!f->by_whole)
            e.key = e.left_s;
        if (!ends)
            push(f, e);
    }
    return from;
}

/* Sum over jobs of their ends on the fluid machine, or of the mean instants
 * of their work. */
static double fluid_sum(struct entry *heap, const struct bounds_job *job,
                        size_t count, double gpus, bool by_whole)
{
    struct fluid f = { .heap = heap, .by_whole = by_whole };
    double now = count > 0 ? job[0].submit_s : 0;

    for (size_t j = 0; j < count; j++) {
        double work_s = machine_s(&job[j], gpus);

        serve(&f, job, gpus, now, job[j].submit_s);
        now = job[j].submit_s;
        push(&f, (struct entry) { work_s, work_s, j });
    }
    serve(&f, job, gpus, now, INFINITY);
    return f.sum_s;
}

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

struct bounds bounds_of(const struct bounds_job *job, size_t count,
                        double gpus)
{
    double submits_s = 0, lengths_s = 0, most_s;

    assert(gpus > 0);
    if (count == 0 || count > BOUNDS_JOBS_MAX)
        return (struct bounds) { 0 };
    struct entry *heap = arena_resize_own(NULL, count, sizeof *heap);
    for (size_t j = 0; j < count; j++) {
        assert(j == 0 || job[j].submit_s >= job[j - 1].submit_s);
        assert(job[j].length_s >= 0 && job[j].gpus >= 0);
        submits_s += job[j].submit_s;
        lengths_s += job[j].length_s;
    }
    most_s = fmax(lengths_s, fluid_sum(heap, job, count, gpus, false) -
                             submits_s);
    most_s = fmax(most_s, fluid_sum(heap, job, count, gpus, true) +
                          lengths_s / 2 - submits_s);
    free(heap);
    return (struct bounds) {
        most_s / (double)count * (1 - ROUNDING),
        makespan(job, count, gpus) * (1 - ROUNDING),
    };
}
