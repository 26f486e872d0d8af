/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * published.c - each metric from the books by one line of arithmetic.
 */
#include "experiments/recount/published.h"

#include <assert.h>
#include <math.h>

#include "experiments/recount/books.h"
#include "experiments/recount/held.h"
#include "experiments/recount/judge.h"
#include "experiments/recount/lost.h"
#include "experiments/recount/money.h"
#include "experiments/recount/nodes.h"
#include "experiments/recount/recount.h"
#include "experiments/recount/rows.h"
#include "experiments/spec/trial_spec.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "sim/base/clock.h"
#include "sim/flow/flow.h"
#include "workloads/source.h"

/* Returns GPU-seconds of thousandths of GPUs x ns. */
static double gpu_s(__int128_t milli_ns)
{
    return (double)((long double)milli_ns / 1e12L);
}

/* What lost.c does not know, with laws by which a job's speed changes as it goes, is not
 * compared. */
static void judge_lost(const struct asked *a, double all)
{
    double rounding_s, again_s = lost_s(a->books->lost, &rounding_s);

    if (!isnan(again_s))
        judge_metric(a->judge, METRIC_GPU_LOST, again_s / all,
                     1 + rounding_s / all / JUDGE_NEAR);
}

/* Compares the fractions of all GPU time, by what GPUs did.  Nothing is said
 * where no GPU was there. */
static void judge_gpus(const struct asked *a)
{
    const struct held *held = a->books->held;
    double all = a->all_gpu_s, loads = gpu_s(held->does[HELD_LOADS]);
    double waits = gpu_s(held->does[HELD_WAITS]), works = gpu_s(held->does[HELD_WORKS]);
    double bubble = waits + held->phase_s - held->busy_s - held->tail_s;
    double down = gpu_s(nodes_down(a->books->nodes));
    double starting = gpu_s(nodes_starting(a->books->nodes));

    if (!(all > 0))
        return;
    judge_metric(a->judge, METRIC_GPU_ALLOCATED, (works + waits + loads) / all, 0);
    judge_metric(a->judge, METRIC_GPU_UTILIZATION, held->busy_s / all, 0);
    judge_metric(a->judge, METRIC_GPU_BUSY, held->busy_s / all, 0);
    judge_metric(a->judge, METRIC_GPU_TAIL, held->tail_s / all, 0);
    judge_metric(a->judge, METRIC_GPU_SWITCH, loads / all, 0);
    judge_metric(a->judge, METRIC_GPU_BUBBLE, fmax(0, bubble) / all, 1);
    judge_lost(a, all);
    judge_metric(a->judge, METRIC_GPU_BURSTS, held->bursts_s / all, 0);
    judge_metric(a->judge, METRIC_GPU_DOWN, down / all, 1);
    judge_metric(a->judge, METRIC_GPU_RENT, starting / all, 1);
    judge_figure(a->judge, "gpu_idle_queued_fraction and gpu_idle_empty_fraction",
                 a->value[METRIC_GPU_IDLE_QUEUED] + a->value[METRIC_GPU_IDLE_EMPTY],
                 (all - works - waits - loads - down - starting) / all, 1);
    judge_figure(a->judge, "parts of gpu_idle_queued_fraction",
                 a->value[METRIC_GPU_FRAGMENT] + a->value[METRIC_GPU_GANG] +
                     a->value[METRIC_GPU_UNSUITED] + a->value[METRIC_GPU_BEHIND],
                 a->value[METRIC_GPU_IDLE_QUEUED], 1);
    if (a->books->host != NULL)
        judge_metric(a->judge, METRIC_GPU_IDLE_QUEUED, gpu_s(a->books->queued) / all, 1);
}

/* Who stands first may change while nothing happens, as under hrrn: what is free behind the
 * first, and what is free for it, are told apart at other instants here, and summed. */
static void judge_idle(const struct asked *a)
{
    const __int128_t *idle = a->books->idle;
    double all = a->all_gpu_s;

    if (!a->books->full || a->books->host == NULL || !(all > 0))
        return;
    judge_metric(a->judge, METRIC_GPU_UNSUITED, gpu_s(idle[IDLE_UNSUITED]) / all, 1);
    judge_metric(a->judge, METRIC_GPU_GANG, gpu_s(idle[IDLE_GANG]) / all, 1);
    judge_figure(a->judge, "gpu_fragment_fraction and gpu_behind_fraction",
                 a->value[METRIC_GPU_FRAGMENT] + a->value[METRIC_GPU_BEHIND],
                 gpu_s(idle[IDLE_FRAGMENT] + idle[IDLE_BEHIND]) / all, 1);
}

/* Which fractions of the cluster's memory and cores leases held. */
static void judge_host(const struct asked *a)
{
    const struct cluster_spec *cluster = a->cluster;
    double memory = 0;

    for (uint32_t g = 0; g < cluster->group_count; g++)
        memory += (double)cluster->group[g].memory_bytes * cluster->group[g].node_count;
    if (memory > 0 && a->span_s > 0)
        judge_metric(a->judge, METRIC_MEMORY_UTILIZATION,
                     a->books->held->memory_s / (memory * a->span_s), 1e-3);
    if (cluster->core_count > 0 && a->span_s > 0)
        judge_metric(a->judge, METRIC_CPU_UTILIZATION,
                     a->core_s / (cluster->core_count * a->span_s),
                     money_core_scale(a) / (cluster->core_count * a->span_s));
}

/* Returns a ratio that is not below 0; NAN: there is nothing to divide by. */
static double over(double of, double by)
{
    return by > 0 ? fmax(0, of) / by : NAN;
}

/* Compares useful work by cost and by GPU time.  FLOPs or lengths must be known
 * of all jobs for most of it.  After a warm-up it is left out, for what jobs
 * did before is not known here. */
static void judge_useful(const struct asked *a)
{
    const struct held *held = a->books->held;
    double all = held->flops_s + held->length_s + held->unknown_s;
    bool some = held->flops_s > 0 || held->on_cores, flops = some && held->flops_s == all;
    bool length = held->length_s > 0 && held->length_s == all;
    double usd = workload_service_count(a->parts->spec->workload) > 0
                     ? 0 : a->value[METRIC_HELD_COST];

    judge_metric(a->judge, METRIC_FLOPS_KNOWN, over(held->flops_s, all), 0);
    if (a->parts->spec->warmup_ns > 0)
        return;
    judge_metric(a->judge, METRIC_PFLOP, some ? held->useful_flops / 1e15 : NAN, 0);
    judge_metric(a->judge, METRIC_WORK, held->length_s > 0 ? held->useful_s : NAN, 0);
    judge_metric(a->judge, METRIC_HELD_MFU, flops && !held->on_cores
                     ? over(held->useful_flops, held->peak_flops) : NAN, 0);
    judge_metric(a->judge, METRIC_HELD_WORK, length ? over(held->useful_s, all) : NAN, 0);
    judge_metric(a->judge, METRIC_PFLOP_USD,
                 flops ? over(held->useful_flops / 1e15, usd) : NAN, 0);
    judge_metric(a->judge, METRIC_WORK_USD, length ? over(held->useful_s, usd) : NAN, 0);
}

/* Returns by which part the value is above its bound; 0 within rounding, NAN: no
 * bound. */
static double gap(double value, double bound)
{
    double over = bound > 0 && value > 0 ? value / bound - 1 : NAN;

    return over < 1e-8 ? 0 : over;
}

/* No schedule is better than a bound, and each job has one of its own. */
static void judge_bounds(const struct asked *a)
{
    const double *v = a->value;
    double alone_s, asked_s;

    judge_metric(a->judge, METRIC_GAP, isnan(v[METRIC_JCT_BOUND])
                     ? NAN : gap(v[METRIC_JCT_MEAN], v[METRIC_JCT_BOUND]), 1);
    judge_metric(a->judge, METRIC_MAKESPAN_GAP, isnan(v[METRIC_MAKESPAN_BOUND])
                     ? NAN : gap(v[METRIC_MAKESPAN], v[METRIC_MAKESPAN_BOUND]), 1);
    judge_holds(a->judge, "jct_bound_s", isnan(v[METRIC_JCT_BOUND]) ||
                v[METRIC_JCT_BOUND] <= v[METRIC_JCT_MEAN] * (1 + 1e-8), "jobs were faster");
    judge_holds(a->judge, "makespan_bound_s", isnan(v[METRIC_MAKESPAN_BOUND]) ||
                v[METRIC_MAKESPAN_BOUND] <= v[METRIC_MAKESPAN] * (1 + 1e-8),
                "jobs were faster");
    judge_holds(a->judge, "cost_bound_usd", isnan(v[METRIC_COST_BOUND]) ||
                a->parts->spec->warmup_ns > 0 ||
                v[METRIC_COST_BOUND] <= v[METRIC_COST] * (1 + 1e-8), "the run cost less");
    if (isnan(v[METRIC_JCT_BOUND]) || !rows_rigid(a->books->rows, &alone_s, &asked_s))
        return;
    judge_holds(a->judge, "jct_bound_s", v[METRIC_JCT_BOUND] >= alone_s * (1 - 1e-8),
                "jobs alone on what they ask for are slower");
    judge_holds(a->judge, "makespan_bound_s", isnan(v[METRIC_MAKESPAN_BOUND]) ||
                v[METRIC_MAKESPAN_BOUND] >=
                    asked_s / a->cluster->gpu_count * (1 - 1e-8), "all GPUs would be slower");
}

/* Rows of jobs add up to what their leases held, did and cost. */
static void judge_rows(const struct asked *a)
{
    const struct held *held = a->books->held;
    const struct recount_told *told = &a->books->told;

    judge_figure(a->judge, "gpu_seconds of jobs.csv", told->gpu_s, held->gpu_s, 0);
    judge_figure(a->judge, "core_seconds of jobs.csv", told->core_s, held->core_s, 0);
    judge_figure(a->judge, "cost_usd of jobs.csv", told->usd, held->all_usd, 0);
    judge_figure(a->judge, "cost_compute_usd of jobs.csv", told->compute_usd,
                 held->all_compute_usd, 0);
    judge_figure(a->judge, "cost_switch_usd of jobs.csv", told->switch_usd,
                 held->all_switch_usd, 0);
    judge_figure(a->judge, "energy_kwh of jobs.csv", told->joules / 3.6e6,
                 held->all_j / 3.6e6, 0);
}

/* What a policy asked for.  Rows count preemptions of the warm-up, so the metric is
 * compared only without one. */
static void judge_counts(const struct asked *a)
{
    const struct recount_told *told = &a->books->told;

    if (a->books->host == NULL)
        return;
    judge_metric(a->judge, METRIC_DECISIONS, (double)told->decisions, 0);
    judge_metric(a->judge, METRIC_REFUSED, (double)told->refused, 0);
    judge_metric(a->judge, METRIC_RESIZES, (double)told->changes, 0);
    judge_metric(a->judge, METRIC_INTERRUPTIONS, (double)told->interrupts, 0);
    if (a->parts->spec->warmup_ns == 0)
        judge_metric(a->judge, METRIC_PREEMPTIONS, (double)told->preemptions, 0);
    /* One lease may be taken back twice before it goes. */
    judge_holds(a->judge, "preemptions of jobs.csv",
                told->preemptions >= told->stops &&
                    told->preemptions <= told->stops + told->take_backs,
                "the numbers of stops or of leases taken back differ");
    judge_figure(a->judge, "interruptions of jobs.csv", (double)told->interruptions,
                 (double)told->all_interrupts, 0);
    judge_metric(a->judge, METRIC_DROPPED, (double)told->dropped, 0);
}

/* Work that flows did is what links carried, of each. */
static void judge_links(const struct asked *a)
{
    for (uint32_t l = 0; l < a->books->links; l++) {
        const struct recount_link *link = &a->books->carried[l];
        double area = flow_link_area(a->parts->net, l);
        double rounding = flow_link_capacity(a->parts->net, l) * (double)link->ends *
                          1e-9 / JUDGE_NEAR;

        if (area != 0 || link->units != 0)
            judge_figure(a->judge, "what a link carried", area, link->units,
                         area + rounding);
    }
}

void published_judge(struct recount_books *books, const struct recount_parts *parts,
                     int64_t end_ns, struct judge *judge)
{
    const struct trial_spec *spec = parts->spec;
    struct asked a = { .books = books, .parts = parts, .cluster = spec->cluster,
                       .value = judge->value, .end_ns = end_ns, .judge = judge };
    int64_t from_ns = books->held->from_ns;

    assert(judge != NULL && end_ns >= from_ns);
    if (books->host == NULL)
        held_counted(books->held);
    nodes_close(books->nodes, from_ns, end_ns);
    a.span_s = (double)(end_ns - from_ns) / 1e9;
    a.all_gpu_s = spec->cluster->gpu_count * a.span_s - gpu_s(nodes_away(books->nodes));
    if (spec->until_ns == CLOCK_NEVER_NS && rows_inside(books->rows) == 0)
        judge_figure(judge, "the end of the run", (double)end_ns,
                     (double)(books->last_ns > from_ns ? books->last_ns : from_ns), 0);
    rows_judge(books->rows, judge);
    judge_gpus(&a);
    judge_idle(&a);
    money_judge(&a);
    judge_host(&a);
    judge_useful(&a);
    if (books->host != NULL || parts->jobs != NULL)
        judge_rows(&a);
    judge_counts(&a);
    judge_bounds(&a);
    judge_metric(judge, METRIC_SERVICE_COST, workload_service_count(spec->workload) > 0
                     ? books->told.service.usd : NAN, 0);
    judge_links(&a);
}
