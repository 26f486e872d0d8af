/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_trace.c - the work of the jobs of a trace, which is read once.
 *
 * Jobs of one form and of the same rates are one heap: their work adds up.
 */
#include "experiments/preflight/load_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/spec/experiment.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/types/truth.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"
#include "workloads/jobs/birth.h"
#include "workloads/replay/trace.h"
#include "workloads/source.h"

/* Jobs of one form and of the same rates. */
struct heap {
    struct job_request request; /* of the first of them */
    bool cores;
    uint32_t pool_mask;         /* where it can be */
    double work[LOAD_POOLS];    /* in each pool, as in load_add_part() */
};

#define HEAPS_MAX 64u           /* what comes later goes with others: find_heap() */

/* Returns the pools in which a job can be. */
static uint32_t find_pools(const struct reckoning *r, const struct job_request *request)
{
    uint32_t mask = 0;

    for (uint32_t k = 0; k < r->point->cluster->pool_count; k++)
        mask |= (uint32_t)load_can_be(r, request, 0, k) << k;
    return mask;
}

/* Returns the heap of a job: that of its form and rates, or a new one; once there are
 * many, the last one of its form, else the last one that takes the same, GPUs or cores. */
static struct heap *find_heap(const struct reckoning *r, struct heap *heap, uint32_t *heaps,
                              const struct job_request *request)
{
    bool cores = request->form->role[0].gpus == 0;
    struct heap *other = NULL;

    for (uint32_t i = *heaps; i-- > 0;) {
        bool same = heap[i].request.form == request->form;

        if (same && heap[i].request.rates == request->rates)
            return &heap[i];
        if (other == NULL ? heap[i].cores == cores
                          : same && other->request.form != request->form)
            other = &heap[i];
    }
    /* One is kept for the first job that takes what no other does. */
    if (*heaps + (other != NULL) >= HEAPS_MAX)
        return other;
    heap[*heaps] = (struct heap) { *request, cores, find_pools(r, request), { 0 } };
    return &heap[(*heaps)++];
}

/* Adds a job to its heap, in each pool at its own speed.  Where jobs like the first of the
 * heap can run and it cannot, it counts as in its best pool. */
static void add_to_heap(const struct reckoning *r, struct heap *heap,
                        const struct job_request *request, double units_s)
{
    double work[LOAD_POOLS], least = INFINITY;
    uint32_t pools = r->point->cluster->pool_count;
    bool form = request->form == heap->request.form;
    bool like = form && request->rates == heap->request.rates;
    uint32_t mask = form ? heap->pool_mask : find_pools(r, request);

    for (uint32_t k = 0; k < pools; k++) {
        double speed = mask >> k & 1 ? load_speed_in(request, k) : 0;

        work[k] = speed > 0 ? units_s / speed : INFINITY;
        least = fmin(least, work[k]);
    }
    for (uint32_t k = 0; k < pools && (like || isfinite(least)); k++)
        heap->work[k] += like || isfinite(work[k]) ? work[k] : least;
}

/* Returns the name of a heap's jobs: of a heap that can be in other pools than another one of
 * that name, with its pools, as in "trace (a or b)". */
static const char *name_heap(const struct reckoning *r, const struct heap *heap, uint32_t heaps,
                             uint32_t own)
{
    const struct cluster_spec *cluster = r->point->cluster;
    const char *name = heap[own].request.form->name, *pools = "";
    bool alone = true;

    assert(own < heaps);
    for (uint32_t i = 0; i < heaps; i++)
        alone &= strcmp(heap[i].request.form->name, name) != 0 ||
                 heap[i].pool_mask == heap[own].pool_mask;
    if (alone)
        return name;
    for (uint32_t k = 0; k < cluster->pool_count; k++)
        if (heap[own].pool_mask >> k & 1)
            pools = text_format(r->arena, "%s%s%s", pools, pools[0] == '\0' ? "" : " or ",
                                cluster->pool_name[k]);
    return text_format(r->arena, "%s (%s)", name, pools);
}

/* The work of each heap is divided by the time over which jobs came, which
 * makes a rate of it. */
void load_add_trace(struct reckoning *r)
{
    struct source *source = source_open(r->arena, r->point->workload,
                                        r->experiment->seed, TRACE_AS_FILED);
    struct heap heap[HEAPS_MAX];
    struct job_birth birth;
    struct err ignored = { 0 };
    uint32_t heaps = 0;
    uint64_t jobs = 0;
    int64_t first_ns = 0, last_ns = 0;

    while (source_next(source, &birth, &ignored) == SOURCE_JOB) {
        const struct job_request *request = &birth.request;

        add_to_heap(r, find_heap(r, heap, &heaps, request), request,
                    clock_s_from_ns(birth.truth.duration_ns) *
                        (request->form->role[0].gpus > 0 ? job_role_amount(request, 0)
                                                         : request->form->role[0].cores));
        first_ns = jobs == 0 ? request->submit_ns : first_ns;
        last_ns = request->submit_ns;
        jobs++;
    }
    double span_s = trace_work_span_s(first_ns, last_ns, jobs);
    r->load.known = span_s > 0;
    for (uint32_t i = 0; r->load.known && i < heaps; i++) {
        const struct job_form *form = heap[i].request.form;
        double *work = load_add_part(r, name_heap(r, heap, heaps, i), form->role[0].name,
                                heap[i].cores);

        for (uint32_t k = 0; k < r->point->cluster->pool_count; k++)
            work[k] = heap[i].work[k] / span_s;
    }
}
