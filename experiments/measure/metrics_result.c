/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics_result.c - the metrics of a trial, at its end.
 *
 * A GPU-second is counted once, as one of: busy (computing, by the law's busy
 * share), tail (held by a rollout whose other responses are done), switch
 * (loading or saving), bubble (leased, and its role waits for another phase,
 * or its phase for a link), idle with tasks waiting, idle with none.
 */
#include "experiments/measure/metrics.h"

#include <math.h>

#include "experiments/bounds/bounds_book.h"
#include "experiments/columns/metric.h"
#include "experiments/measure/costs.h"
#include "experiments/measure/fairness.h"
#include "experiments/measure/fragmentation.h"
#include "experiments/measure/idle.h"
#include "experiments/measure/job_times.h"
#include "experiments/measure/metrics_parts.h"
#include "experiments/measure/steady_book.h"
#include "experiments/measure/useful.h"
#include "experiments/own/own_book.h"
#include "models/cluster/cluster.h"
#include "policies/host/host.h"
#include "sim/base/clock.h"
#include "sim/stats/tally.h"

/* Returns the host memory of all nodes, in bytes. */
static double host_memory(const struct cluster_spec *spec)
{
    double bytes = 0;

    for (uint32_t g = 0; g < spec->group_count; g++)
        bytes += (double)spec->group[g].memory_bytes *
                 spec->group[g].node_count;
    return bytes;
}

/* Divides each cause by all GPU-seconds.  A bubble is what leases waited, and what
 * phases waited for links, but for what their sums leave by rounding. */
static void gpu_time(struct metrics *m, double *value)
{
    const struct idle *idle = m->idle;
    double all = idle_all_gpu_s(idle);
    const struct phase_time *in = &m->phases;
    double waits = idle_gpu_s(idle, GPU_WAITS);
    double loads = idle_gpu_s(idle, GPU_LOADS);
    double bubble = waits + in->phase_s - in->busy_s - in->tail_s;

    if (!(all > 0))
        return;
    value[METRIC_GPU_ALLOCATED] =
        (idle_gpu_s(idle, GPU_WORKS) + waits + loads) / all;
    value[METRIC_GPU_UTILIZATION] = in->busy_s / all;
    value[METRIC_GPU_BUSY] = in->busy_s / all;
    value[METRIC_GPU_TAIL] = in->tail_s / all;
    value[METRIC_GPU_SWITCH] = loads / all;
    value[METRIC_GPU_BUBBLE] = bubble > 1e-12 * (waits + in->phase_s) ? bubble / all : 0;
    value[METRIC_GPU_LOST] = useful_lost_s(m->useful) / all;
    value[METRIC_GPU_BURSTS] = in->bursts_s / all;
    idle_result(idle, value);
}

/* Metrics that also hold where some jobs are not done. */
static void survivors(struct metrics *m, double *value)
{
    bool drained = m->parts.spec->until_ns == CLOCK_NEVER_NS;

    value[METRIC_COST_LAST_END] = job_times_done(m->times) == 0 ? NAN
        : drained ? value[METRIC_COST] : m->last_end_usd;
    value[METRIC_REQUESTS] = value[METRIC_REQUESTS_DONE] = NAN;
}

/* Counters of the host cannot be set back, so that what they had at the end of the warm-up
 * is taken off.  Metrics of services are set to NAN here, and filled by trial_serve.c
 * afterwards where there are services. */
void metrics_result(struct metrics *m, struct trial_result *result)
{
    const struct cluster_spec *spec = m->parts.spec->cluster;
    const struct host_counts *counts = metrics_counts(m);
    double span_s = clock_s_from_ns(m->end_ns - m->from_ns);
    double *value = result->value, memory = host_memory(spec);
    uint64_t done = job_times_done(m->times);
    double cores_busy;

    job_times_result(m->times, value);
    gpu_time(m, value);
    costs_result(m->costs, m->end_ns, result, &cores_busy);
    survivors(m, value);
    useful_result(m->useful, value);
    fairness_result(m->fairness, m->end_ns, result);
    value[METRIC_SERVICE_COST] = value[METRIC_SERVICE_MILLION] = NAN;
    value[METRIC_SERVICE_LATENCY] = NAN;
    value[METRIC_COST_PER_JOB] =
        done ? value[METRIC_COST] / (double)done : 0;
    if (spec->core_count > 0 && span_s > 0)
        value[METRIC_CPU_UTILIZATION] =
            cores_busy / (spec->core_count * span_s);
    if (memory > 0 && span_s > 0)
        value[METRIC_MEMORY_UTILIZATION] =
            gauge_area(&m->memory, m->end_ns) / (memory * span_s);
    value[METRIC_PREEMPTIONS] =
        (double)(counts->preemptions - m->preempted);
    value[METRIC_RESIZES] =
        (double)(counts->resizes + counts->moves - m->resized);
    value[METRIC_DECISIONS] = (double)(counts->decisions - m->decided);
    value[METRIC_LIMITED] = (double)(counts->limited - m->limited);
    value[METRIC_INTERRUPTIONS] =
        (double)(counts->interruptions - m->interrupted);
    value[METRIC_RENT_FORECAST] =
        m->host != NULL ? host_rent_error(m->host, m->from_ns) : NAN;
    value[METRIC_REFUSED] = (double)(counts->refused - m->refused);
    steady_book_result(m->steady, value);
    bounds_book_result(m->bounds, value);
    arrived_result(m->arrived, result);
}

void metrics_own_result(const struct metrics *m, struct trial_result *result)
{
    own_book_result(m->own, result->value, result->own_gap);
}

bool metrics_gpus_add_up(const struct metrics *m)
{
    return idle_adds_up(m->idle);
}
