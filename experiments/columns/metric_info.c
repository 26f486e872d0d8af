/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metric_info.c - every metric: its column, unit, meaning, and which way is
 * better; and the text of a placement.
 */
#include <assert.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "models/types/placement.h"
#include "sim/base/decimal.h"

static const struct metric_info info[METRIC_COUNT] = {
    [METRIC_JOBS] = { "jobs", "count", "jobs submitted after the warm-up",
                      true, 0 },
    [METRIC_JOBS_DONE] = { "jobs_done", "count",
                           "jobs submitted after the warm-up and finished",
                           true, +1 },
    [METRIC_JOBS_FAILED] = { "jobs_failed", "count",
                             "jobs submitted after the warm-up that failed",
                             true, -1 },
    [METRIC_MAKESPAN] = { "makespan_s", "s",
                          "first submission to last end, of the jobs "
                          "submitted after the warm-up", false, -1 },
    [METRIC_JCT_MEAN] = { "jct_mean_s", "s",
                          "job completion time: submission to end, mean",
                          false, -1 },
    [METRIC_JCT_P50] = { "jct_p50_s", "s", "job completion time, median", false,
                         -1 },
    [METRIC_JCT_P95] = { "jct_p95_s", "s",
                         "job completion time, 95th percentile",
                         false, -1 },
    [METRIC_JCT_P99] = { "jct_p99_s", "s",
                         "job completion time, 99th percentile",
                         false, -1 },
    [METRIC_WAIT_MEAN] = { "wait_mean_s", "s",
                           "submission to first lease with GPUs, mean",
                           false, -1 },
    [METRIC_WAIT_P99] = { "wait_p99_s", "s",
                          "submission to first lease with GPUs, 99th "
                          "percentile", false, -1 },
    [METRIC_SLOWDOWN] = { "slowdown_mean", "1",
                          "JCT divided by the run time alone on what the "
                          "job asks for, mean",
                          false, -1 },
    [METRIC_BOUNDED_SLOWDOWN] = { "bounded_slowdown_mean", "1",
                                  "slowdown with run times below 10 s taken "
                                  "as 10 s, at least 1 (Feitelson 2001)", false,
                                  -1 },
    [METRIC_GPU_ALLOCATED] = { "gpu_allocated_fraction", "fraction",
                               "GPU-seconds under a lease by all GPU-seconds",
                               false, 0 },
    [METRIC_GPU_UTILIZATION] = { "gpu_utilization", "fraction",
                                 "what GPUs really did by all GPU-seconds that were there",
                                 false, +1 },
    [METRIC_CPU_UTILIZATION] = { "cpu_utilization", "fraction",
                                 "core-seconds of work by all core-seconds",
                                 false, 0 },
    [METRIC_MEMORY_UTILIZATION] = { "memory_utilization", "fraction",
                                    "host memory held, by all of it", false,
                                    0 },
    [METRIC_COST] = { "cost_usd", "USD",
                      "cost of the whole cluster for as long as it ran, "
                      "idle hardware included", false, -1 },
    [METRIC_COST_PER_JOB] = { "cost_per_job_usd", "USD",
                              "cost_usd divided by jobs_done", false, -1 },
    [METRIC_ENERGY] = { "energy_kwh", "kWh",
                        "energy of the whole cluster, times PUE", false, -1 },
    [METRIC_SLO] = { "slo_attained_fraction", "fraction",
                     "share of the jobs with a deadline that met it; 1 "
                     "if none has one",
                     false, +1 },
    [METRIC_PREEMPTIONS] = { "preemptions", "count",
                             "jobs stopped before their end", true, -1 },
    [METRIC_DECISIONS] = { "decisions", "count",
                           "requests of the policy that were carried out",
                           true, 0 },
    [METRIC_REFUSED] = { "refused_requests", "count",
                         "requests that broke a rule: nothing changed", true,
                         -1 },
    [METRIC_GPU_BUSY] = { "gpu_busy_fraction", "fraction",
                          "GPU time: computing", false, +1 },
    [METRIC_GPU_TAIL] = { "gpu_tail_fraction", "fraction",
                          "GPU time: in a rollout whose other responses are "
                          "done", false, -1 },
    [METRIC_GPU_SWITCH] = { "gpu_switch_fraction", "fraction",
                            "GPU time: loading, starting, saving", false,
                            -1 },
    [METRIC_GPU_BUBBLE] = { "gpu_bubble_fraction", "fraction",
                            "GPU time: leased, waiting for another phase or "
                            "for a link", false, -1 },
    [METRIC_GPU_IDLE_QUEUED] = { "gpu_idle_queued_fraction", "fraction",
                                 "GPU time: free while asks wait", false,
                                 -1 },
    [METRIC_GPU_IDLE_EMPTY] = { "gpu_idle_empty_fraction", "fraction",
                                "GPU time: free, nothing waits", false, 0 },
    [METRIC_STEPS_DONE] = { "steps_done", "count", "steps that jobs have done",
                            true, +1 },
    [METRIC_CARBON] = { "carbon_kg", "kg",
                        "energy_kwh times carbon intensity", false, -1 },
    [METRIC_JCT_BOUND] = { "jct_bound_s", "s",
                           "no policy could have a lower jct_mean_s for the "
                           "jobs that are done; empty with fidelity "
                           "step, or above 100,000 jobs", false, 0 },
    [METRIC_MAKESPAN_BOUND] = { "makespan_bound_s", "s",
                                "no policy could have a lower makespan_s; empty "
                                "as jct_bound_s", false, 0 },
    [METRIC_COST_BOUND] = { "cost_bound_usd", "USD",
                            "the cheapest lease of each phase of the jobs "
                            "that are done; empty as jct_bound_s", false, 0 },
    [METRIC_GAP] = { "gap_to_bound", "fraction",
                     "jct_mean_s over jct_bound_s, less 1", false, -1 },
    [METRIC_MAKESPAN_GAP] = { "makespan_gap_to_bound", "fraction",
                              "makespan_s over makespan_bound_s, less 1", false, -1 },
    [METRIC_INTERRUPTIONS] = { "interruptions", "count",
                               "times that failures ended a lease of a job",
                               true, -1 },
    [METRIC_GPU_DOWN] = { "gpu_down_fraction", "fraction",
                          "GPU time: out of service", false, -1 },
    [METRIC_GPU_LOST] = { "gpu_lost_fraction", "fraction",
                          "GPU time that failures made jobs spend for "
                          "nothing; part of busy and the other causes", false,
                          -1 },
    [METRIC_HELD_COST] = { "held_cost_usd", "USD",
                           "of what jobs and replicas held, for as long as "
                           "they held it, from the end of the warm-up on: "
                           "cost_usd without idle hardware", false, -1 },
    [METRIC_SERVICE_COST] = { "service_cost_usd", "USD",
                              "of what replicas of services held: a part of "
                              "held_cost_usd but for a warm-up, which counts "
                              "here, as its requests do; empty without "
                              "services", false, -1 },
    [METRIC_SERVICE_MILLION] = { "service_cost_per_million_usd", "USD",
                                 "the same by million answers", false, -1 },
    [METRIC_SERVICE_LATENCY] = { "service_latency_p99_s", "s",
                                 "request to answer, 99th percentile, of the "
                                 "slowest service", false, -1 },
    [METRIC_GPU_BURSTS] = { "gpu_shared_bursts_fraction", "fraction",
                            "GPU time of training on several nodes while "
                            "another lease trains over the same link: bursts "
                            "can collide, see fidelity: step", false, 0 },
    [METRIC_DROPPED] = { "jobs_dropped", "count",
                         "jobs that found no room when they came, under "
                         "`blocking: drop`", true, -1 },
    [METRIC_AT_100] = { "gpu_allocated_at_100_fraction", "fraction",
                        "GPUs allocated by all GPUs, when jobs have arrived "
                        "that ask for 100% of them; empty but for `blocking: "
                        "drop`", false, +1 },
    [METRIC_AT_LAST] = { "gpu_allocated_at_last_fraction", "fraction",
                         "the same at the last whole percent that arrived",
                         false, +1 },
    [METRIC_GPU_FRAGMENT] = { "gpu_fragment_fraction", "fraction",
                              "part of gpu_idle_queued_fraction: something "
                              "waits that wants no more GPUs than are free in "
                              "the pool, and does not fit or is held back, "
                              "but for gpu_head_of_line_fraction",
                              false, 0 },
    [METRIC_GPU_GANG] = { "gpu_gang_fraction", "fraction",
                          "part of gpu_idle_queued_fraction: all that waits "
                          "for the pool wants more GPUs than are free there",
                          false, 0 },
    [METRIC_GPU_UNSUITED] = { "gpu_unsuited_fraction", "fraction",
                              "part of gpu_idle_queued_fraction: what waits "
                              "wants other pools or types", false, 0 },
    [METRIC_GPU_RENT] = { "gpu_rent_fraction", "fraction",
                          "GPU time: of rented nodes that are starting or "
                          "under notice", false, -1 },
    [METRIC_COST_COMPUTE] = { "cost_compute_usd", "USD",
                              "part of cost_usd: leased GPUs at work; this and "
                              "its neighbours are empty with a warm-up",
                              false, 0 },
    [METRIC_COST_WAIT] = { "cost_wait_usd", "USD",
                           "part of cost_usd: leases that wait for another "
                           "phase, a link, or the longest response", false,
                           -1 },
    [METRIC_COST_SWITCH] = { "cost_switch_usd", "USD",
                             "part of cost_usd: loading, starting, saving",
                             false, -1 },
    [METRIC_COST_FREE] = { "cost_free_usd", "USD",
                           "part of cost_usd: hardware that nobody holds",
                           false, -1 },
    [METRIC_COST_RENT] = { "cost_rent_usd", "USD",
                           "part of cost_usd: rented nodes before they could "
                           "be used, and units paid beyond their end", false,
                           -1 },
    [METRIC_COST_ENERGY] = { "cost_energy_usd", "USD",
                             "part of cost_usd: electricity that no price "
                             "contains", false, -1 },
    [METRIC_COST_STORAGE] = { "cost_storage_usd", "USD",
                              "part of cost_usd: the shared storage", false,
                              -1 },
    [METRIC_COST_TRANSFER] = { "cost_transfer_usd", "USD",
                               "part of cost_usd: what rented nodes read from "
                               "and write to the shared storage", false, -1 },
    [METRIC_NODES_RENTED] = { "rented_nodes_mean", "count",
                              "nodes that were paid for at a time, of groups "
                              "with rent", false, 0 },
    [METRIC_SERIES_HELD] = { "series_held_s", "s",
                             "time for which the last value of a series that "
                             "had ended was held, over all series", false,
                             -1 },
    [METRIC_RESIZES] = { "resizes", "count",
                         "leases that were changed for more, fewer or other "
                         "GPUs as they worked", true, 0 },
    [METRIC_GPU_BEHIND] = { "gpu_head_of_line_fraction", "fraction",
                            "part of gpu_idle_queued_fraction: what wants no "
                            "more GPUs than are free in the pool is held back "
                            "behind the first of the queue, which wants more",
                            false, 0 },
    [METRIC_JCT_RESTRICTED] = { "jct_restricted_mean_s", "s",
                                "submission to end, mean over all jobs, of one "
                                "that was not done: to `until` (mean restricted "
                                "to the horizon, after Royston and Parmar 2013); "
                                "empty where jobs were lost without `until`",
                                false, -1 },
    [METRIC_COST_LAST_END] = { "cost_to_last_end_usd", "USD",
                               "cost_usd up to the last end of a job that was "
                               "done, not to `until`; electricity included, and "
                               "what rented units are paid beyond it", false, -1 },
    [METRIC_REQUESTS] = { "requests", "count",
                          "requests to services after the warm-up; empty "
                          "without services",
                          true, 0 },
    [METRIC_REQUESTS_DONE] = { "requests_done", "count",
                               "of them, answered: not dropped, refused, or "
                               "under way at the end", true, +1 },
    [METRIC_LIMITED] = { "decisions_limited", "count",
                         "decisions in which a limit of the policy's own "
                         "(depth_max and the like) left something out", true,
                         0 },
};

/* Of all, unless it is here. */
static const enum metric_of of[METRIC_COUNT] = {
    [METRIC_MAKESPAN] = METRIC_OF_JOBS_DONE,
    [METRIC_JCT_MEAN] = METRIC_OF_JOBS_DONE,
    [METRIC_JCT_P50] = METRIC_OF_JOBS_DONE,
    [METRIC_JCT_P95] = METRIC_OF_JOBS_DONE,
    [METRIC_JCT_P99] = METRIC_OF_JOBS_DONE,
    [METRIC_WAIT_MEAN] = METRIC_OF_JOBS_DONE,
    [METRIC_WAIT_P99] = METRIC_OF_JOBS_DONE,
    [METRIC_SLOWDOWN] = METRIC_OF_JOBS_DONE,
    [METRIC_BOUNDED_SLOWDOWN] = METRIC_OF_JOBS_DONE,
    [METRIC_COST_PER_JOB] = METRIC_OF_JOBS_DONE,
    [METRIC_JCT_BOUND] = METRIC_OF_JOBS_DONE,
    [METRIC_MAKESPAN_BOUND] = METRIC_OF_JOBS_DONE,
    [METRIC_COST_BOUND] = METRIC_OF_JOBS_DONE,
    [METRIC_GAP] = METRIC_OF_JOBS_DONE,
    [METRIC_MAKESPAN_GAP] = METRIC_OF_JOBS_DONE,
    [METRIC_COST_LAST_END] = METRIC_OF_JOBS_DONE,
    [METRIC_SERVICE_MILLION] = METRIC_OF_REQUESTS_DONE,
    [METRIC_SERVICE_LATENCY] = METRIC_OF_REQUESTS_DONE,
};

enum metric_of metric_of(enum metric metric)
{
    assert((unsigned)metric < METRIC_COUNT);
    return of[metric];
}

const struct metric_info *metric_info(enum metric metric)
{
    assert((unsigned)metric < METRIC_COUNT);
    return &info[metric];
}

const char *metric_title(enum metric metric)
{
    static const char *const title[METRIC_COUNT] = {
        [METRIC_JOBS_DONE] = "jobs done",
        [METRIC_MAKESPAN] = "makespan",
        [METRIC_JCT_MEAN] = "JCT, mean",
        [METRIC_JCT_P95] = "JCT, 95th percentile",
        [METRIC_WAIT_MEAN] = "wait for GPUs, mean",
        [METRIC_COST] = "total cost",
        [METRIC_COST_PER_JOB] = "cost per job done",
        [METRIC_ENERGY] = "energy",
        [METRIC_GPU_UTILIZATION] = "GPU utilization",
        [METRIC_GPU_BUSY] = "busy",
        [METRIC_GPU_TAIL] = "tail",
        [METRIC_GPU_SWITCH] = "switch",
        [METRIC_GPU_BUBBLE] = "bubble",
        [METRIC_GPU_IDLE_QUEUED] = "idle, asks wait",
        [METRIC_GPU_IDLE_EMPTY] = "idle, nothing waits",
        [METRIC_GPU_GANG] = "gang",
        [METRIC_GPU_BEHIND] = "head of line",
        [METRIC_GPU_FRAGMENT] = "fragment",
        [METRIC_GPU_UNSUITED] = "other pools",
        [METRIC_GPU_DOWN] = "failures",
        [METRIC_GPU_RENT] = "starting",
    };

    assert((unsigned)metric < METRIC_COUNT);
    return title[metric];
}

enum metric metric_find(const char *name)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (strcmp(info[i].name, name) == 0)
            return (enum metric)i;
    return METRIC_COUNT;
}

/* "0-3+7" of a mask; it has at most 32 runs of at most six characters. */
static char *put_mask(char *out, uint64_t mask)
{
    const char *start = out;

    for (unsigned g = 0; g < 64; g++) {
        unsigned last = g;
        if (!(mask >> g & 1))
            continue;
        while (last < 63 && (mask >> (last + 1) & 1))
            last++;
        if (out > start)
            *out++ = '+';
        out = decimal_put(out, g);
        if (last > g) {
            *out++ = '-';
            out = decimal_put(out, last);
        }
        g = last;
    }
    return out;
}

/* " 3:0-7", or of a part of a GPU " 3:0*0.250". */
static char *put_share(char *out, const struct share *share)
{
    *out++ = ' ';
    out = decimal_put(out, share->node);
    if (share->gpu_mask) {
        *out++ = ':';
        out = put_mask(out, share->gpu_mask);
    }
    if (share->gpu_milli > 0 && share->gpu_milli < GPU_MILLI) {
        memcpy(out, "*0.", 3);
        out[3] = (char)('0' + share->gpu_milli / 100);
        out[4] = (char)('0' + share->gpu_milli / 10 % 10);
        out[5] = (char)('0' + share->gpu_milli % 10);
        out += 6;
    }
    return out;
}

void trial_placement_text(const struct placement *placement, char *out,
                          size_t out_bytes)
{
    size_t n = 0;

    assert(out_bytes > 5);
    for (uint32_t i = 0; i < placement->share_count; i++) {
        char text[256];
        const char *from = text + (n == 0);     /* no blank before the first */
        size_t bytes = (size_t)(put_share(text, &placement->share[i]) - from);

        if (n + bytes + 5 > out_bytes) {
            memcpy(out + n, " ...", 4);
            n += 4;
            break;
        }
        memcpy(out + n, from, bytes);
        n += bytes;
    }
    out[n] = '\0';
}
