/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.c - the columns of every CSV, as CONTRACT names and orders them.
 *
 * Scripts are built on these names: columns may be added at the end of a
 * table, never moved, renamed or given another meaning.  The columns of
 * summary.csv after `seed` are the metrics of metrics.def, in its order.
 */
#include "experiments/columns/columns.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* The first three columns of nearly every table.  A row is of one trial, which these three
 * name. */
#define KEYS \
    { "point", TABLE_TEXT, "cell of the sweep; base: no sweep" }, \
    { "policy", TABLE_TEXT, "name of the policy in this experiment" }, \
    { "seed", TABLE_COUNT, "replica: which of the experiment's seeds" }

static const struct table_column summary_column[] = {
    KEYS,
#define METRIC(ID, COLUMN, TYPE, UNIT, BETTER, OF, TITLE, HELP) \
    { #COLUMN, TABLE_##TYPE, HELP },
#include "experiments/columns/metrics.def"
#undef METRIC
    { "deterministic", TABLE_COUNT, "1: nothing is drawn, so any seed would "
      "give this row, and one trial stands for all" },
    { "without", TABLE_TEXT, "what cannot happen there, as the cluster has no failures or "
      "no rent, the jobs no deadlines or no phases, and the policy no preemption, no "
      "resizing or no drops: metrics of it are known" },
};

static const struct table_column compare_column[] = {
    { "point", TABLE_TEXT, "cell of the sweep; base: no sweep" },
    { "policy", TABLE_TEXT, "name of the policy in this experiment" },
    { "metric", TABLE_TEXT, "a column of summary.csv" },
    { "seeds", TABLE_COUNT, "samples: trials that have the value" },
    { "mean", TABLE_REAL, "of the metric over the seeds" },
    { "ci95_low", TABLE_REAL,
      "lower end of the mean's 95% interval (Student's and Hall's t); of a count or a "
      "fraction that all seeds have alike, what these leave open" },
    { "ci95_high", TABLE_REAL, "upper end of that interval" },
    { "baseline", TABLE_TEXT, "the policy compared with" },
    { "delta_percent", TABLE_REAL,
      "mean against the baseline's mean, in percent of it" },
    { "delta_ci95_low_percent", TABLE_REAL,
      "lower end of its 95% interval, paired (Fieller)" },
    { "delta_ci95_high_percent", TABLE_REAL, "upper end of that interval" },
    { "p_value", TABLE_REAL,
      "of the two-sided paired tests against the baseline" },
    { "of", TABLE_TEXT,
      "`368 of 405`: what the mean is over, where jobs or requests were lost; "
      "such a mean is not compared" },
    { "baseline_of", TABLE_TEXT, "the same of the baseline" },
    { "deterministic", TABLE_COUNT, "1: nothing is drawn or all seeds gave "
      "equal results; they count as one, without an interval but of counts and shares that "
      "equal seeds leave open" },
    { "p_holm", TABLE_REAL, "p_value corrected by Holm for all comparisons of "
      "this metric: of each point and policy" },
    { "not_trusted", TABLE_TEXT, "`jobs 0.25`, `seeds 0.71`: so few decide the "
      "mean (skewness over the root of their number) that its interval cannot "
      "be trusted; `equal seeds`: it takes deadlines or requests of a seed as independent" },
    { "delta_not_trusted", TABLE_TEXT, "the same of the difference, and `5 pairs`: "
      "of fewer than ten seeds" },
    { "queue_grows", TABLE_COUNT, "1: by `queue_growth` over three seeds or more, "
      "under that policy; mean times then say how long jobs came; empty: fewer "
      "seeds, or too few jobs, or too many, to tell" },
};

static const struct table_column jobs_column[] = {
    KEYS,
#define JOB_COLUMN(ID, COLUMN, TYPE, OF, HELP) { #COLUMN, TABLE_##TYPE, HELP },
#include "experiments/columns/job_columns.def"
#undef JOB_COLUMN
};

static const struct table_column phases_column[] = {
    KEYS,
    { "job", TABLE_TEXT, "its name, or its number from 0" },
    { "phase", TABLE_TEXT, "name of the phase in its form" },
    { "role", TABLE_TEXT, "role whose lease it ran on" },
    { "start_s", TABLE_TIME, "when the phase started" },
    { "end_s", TABLE_TIME, "when it ended or was cut short" },
    { "gpus", TABLE_COUNT, "GPUs of the lease; exact decimals" },
    { "gpu_type", TABLE_TEXT, "GPU type of the lease" },
    { "nodes", TABLE_TEXT, "where: node and its GPUs" },
    { "bottleneck", TABLE_TEXT, "the stage that set the rate" },
    { "rate", TABLE_REAL, "runs of the phase per second" },
    { "gpu_utilization", TABLE_REAL, "utilization of the lease's GPUs" },
    { "mfu", TABLE_REAL,
      "model FLOPs a second over the peak of the lease's GPUs (6N + 12LHQT a "
      "token of training: Chowdhery et al. 2022)" },
    { "hfu", TABLE_REAL, "the same with what is computed again" },
};

static const struct table_column timeline_column[] = {
    KEYS,
    { "t_s", TABLE_TIME, "start of the interval" },
    { "pool", TABLE_TEXT, "set of nodes" },
    { "gpus_total", TABLE_COUNT,
      "GPUs of the pool, also of nodes that fail or are not rented then" },
    { "gpus_allocated", TABLE_REAL,
      "GPUs under a lease, mean over the interval" },
    { "gpus_busy", TABLE_REAL, "GPUs really at work, mean over the interval" },
    { "cores_busy", TABLE_REAL, "cores at work, mean over the interval" },
    { "jobs_pending", TABLE_REAL, "tasks that wait, in the whole cluster" },
    { "jobs_running", TABLE_REAL, "jobs at work, in the whole cluster" },
    { "cost_usd_per_h", TABLE_REAL,
      "of the nodes of the pool that are paid for, at their prices then" },
};

static const struct table_column decisions_column[] = {
    KEYS,
    { "t_s", TABLE_TIME, "instant of the decision" },
    { "seq", TABLE_COUNT, "number of the request in its trial" },
    { "action", TABLE_TEXT, "start, continue, release, stop, resize, move, take_back" },
    { "job", TABLE_TEXT, "its name, or its number from 0" },
    { "role", TABLE_TEXT, "role it is for, or all" },
    { "placement", TABLE_TEXT, "nodes and GPUs granted; empty if refused" },
    { "verdict", TABLE_TEXT, "what became of the request" },
    { "pending", TABLE_COUNT,
      "tasks that waited then, but for one that it started, continued or stopped" },
    { "free_gpus", TABLE_COUNT, "free GPUs before it; of a stop: after it" },
};

static const struct table_column services_column[] = {
    { "point", TABLE_TEXT, "cell of the sweep; base: no sweep" },
    { "policy", TABLE_TEXT, "name of the policy" },
    { "seed", TABLE_COUNT, "replica, from 0" },
    { "service", TABLE_TEXT, "name of the service" },
    { "requests", TABLE_COUNT,
      "that arrived, in the warm-up too: done, dropped, refused and unfinished" },
    { "done", TABLE_COUNT, "requests that were answered, in the warm-up too" },
    { "dropped", TABLE_COUNT, "by a full queue or a timeout" },
    { "refused", TABLE_COUNT, "larger than the memory of a replica" },
    { "unfinished", TABLE_COUNT, "at the end of the run" },
    { "rerouted", TABLE_COUNT, "begun anew: their replica was lost" },
    { "recomputed", TABLE_COUNT, "thrown out of a full KV cache" },
    { "ttft_mean_s", TABLE_REAL, "time to the first token" },
    { "ttft_p50_s", TABLE_REAL,
      "median of the time to the first token" },
    { "ttft_p95_s", TABLE_REAL,
      "95th percentile of the time to the first token" },
    { "ttft_p99_s", TABLE_REAL,
      "99th percentile of the time to the first token" },
    { "tpot_mean_s", TABLE_REAL, "time per token after the first" },
    { "tpot_p50_s", TABLE_REAL,
      "median of the time per token after the first" },
    { "tpot_p95_s", TABLE_REAL,
      "95th percentile of the time per token after the first" },
    { "tpot_p99_s", TABLE_REAL,
      "99th percentile of the time per token after the first" },
    { "latency_mean_s", TABLE_REAL, "arrival to the whole answer" },
    { "latency_p50_s", TABLE_REAL,
      "median of the time to the whole answer" },
    { "latency_p95_s", TABLE_REAL,
      "95th percentile of the time to the whole answer" },
    { "latency_p99_s", TABLE_REAL,
      "99th percentile of the time to the whole answer" },
    { "slo_attained_fraction", TABLE_REAL,
      "answered as promised, of all requests after the warm-up, as are the "
      "times and rates here, but for those that `until` cuts off before they are late" },
    { "goodput_per_s", TABLE_REAL,
      "answered as promised, per second from the first request to the last "
      "answer" },
    { "tokens_per_s", TABLE_REAL, "generated, likewise" },
    { "gpu_replicas_max", TABLE_COUNT, "on GPUs, wanted at once" },
    { "gpu_replica_starts", TABLE_COUNT, "on GPUs, asked for" },
    { "gpu_replica_hours", TABLE_REAL, "on GPUs, from asked for to let go" },
    { "gpu_replica_utilization", TABLE_REAL, "share of that at work" },
    { "cpu_replicas_max", TABLE_COUNT, "on cores, wanted at once" },
    { "cpu_replica_starts", TABLE_COUNT, "on cores, asked for" },
    { "cpu_replica_hours", TABLE_REAL, "on cores, from asked for to let go" },
    { "cpu_replica_utilization", TABLE_REAL, "share of that at work" },
    { "gpu_hours", TABLE_REAL, "held by its leases" },
    { "core_hours", TABLE_REAL, "held by its leases" },
    { "cost_usd", TABLE_REAL, "of what its leases held, in the warm-up too" },
    { "cost_per_million_usd", TABLE_REAL, "cost_usd of a million of all answers, done" },
    { "energy_kwh", TABLE_REAL, "of the GPUs its leases held" },
    { "prefix_hit_fraction", TABLE_REAL,
      "tokens of prompts that a replica had computed before, of those of requests that came "
      "to an open replica" },
};

static const struct table_column arrived_column[] = {
    KEYS,
    { "arrived_percent", TABLE_COUNT,
      "GPUs that jobs so far asked for, by all GPUs" },
    { "gpu_allocated_fraction", TABLE_REAL,
      "after the decisions on them, mean over the arrivals at that percent" },
    { "jobs", TABLE_COUNT, "that arrived so far" },
    { "jobs_dropped", TABLE_COUNT, "of these, that found no room" },
};

static const struct table_column tenants_column[] = {
    KEYS,
    { "tenant", TABLE_TEXT, "its name; jobs without a tenant are in no row" },
    { "jobs", TABLE_COUNT, "submitted after the warm-up" },
    { "jobs_done", TABLE_COUNT, "of these, finished" },
    { "gpu_seconds", TABLE_REAL, "GPUs held by its jobs, over time" },
    { "gpu_share", TABLE_REAL, "of those of all tenants" },
    { "asked_gpu_seconds", TABLE_REAL,
      "GPUs that its jobs in the system ask for, over time" },
    { "cost_usd", TABLE_REAL, "of what its jobs held, all of it" },
    { "jct_mean_s", TABLE_REAL, "submission to end, mean over jobs done" },
    { "wait_mean_s", TABLE_REAL, "submission to first lease with GPUs" },
    { "slowdown_mean", TABLE_REAL,
      "JCT divided by the run time alone on what the job asks for" },
    { "ftf_rho_mean", TABLE_REAL, "as the metric, over its jobs" },
    { "envy", TABLE_REAL,
      "GPU-seconds that it would have had more in the place of the tenant "
      "where they are most, by those it asked for; empty above 64 tenants" },
};

static const struct table_column seeds_column[] = {
    { "until", TABLE_TEXT, "what the seeds were to suffice for" },
    { "at_most", TABLE_COUNT, "seeds that the experiment allows" },
    { "seeds", TABLE_COUNT, "seeds that were run" },
    { "reached", TABLE_COUNT, "1: they suffice; 0: they do not, or nothing has an "
      "interval" },
    { "why", TABLE_TEXT, "why no more were run, in words" },
};

static const struct table_column metrics_column[] = {
    { "metric", TABLE_TEXT, "its name, a column of summary.csv" },
    { "of", TABLE_TEXT, "the expression" },
    { "unit", TABLE_TEXT, "of its values" },
    { "better", TABLE_TEXT, "more, less or neither" },
    { "over", TABLE_TEXT, "all; jobs_done, requests_done or both_done: it says nothing "
      "of those that were not done, and is not compared where some were not" },
    { "title", TABLE_TEXT, "what tables and charts call it" },
    { "help", TABLE_TEXT, "what it means" },
    { "trials", TABLE_COUNT, "that were run" },
    { "empty", TABLE_COUNT, "of these, trials in which it has no value" },
    { "why", TABLE_TEXT, "why it has none, or is not of all rows, in words" },
};

static const struct table_column border_column[] = {
    { "claim", TABLE_TEXT, "name of the claim" },
    { "metric", TABLE_TEXT, "a column of summary.csv" },
    { "policy", TABLE_TEXT, "judged" },
    { "versus", TABLE_TEXT, "policy or point that it is compared with; empty: none" },
    { "point", TABLE_TEXT, "of the sweep, without the key" },
    { "key", TABLE_TEXT, "that is varied" },
    { "holds_at", TABLE_TEXT, "last value at which the claim holds; empty: none" },
    { "fails_at", TABLE_TEXT, "first value at which it does not hold; undecided lies "
      "between them" },
    { "from", TABLE_TEXT, "one end of the values" },
    { "to", TABLE_TEXT, "the other end" },
    { "verdict_from", TABLE_TEXT, "at the one end" },
    { "verdict_to", TABLE_TEXT, "at the other end" },
    { "turns", TABLE_TEXT, "yes, no, forth and back, or not known" },
    { "seeds", TABLE_COUNT, "of each value" },
    { "trials", TABLE_COUNT, "that the search took" },
    { "sentence", TABLE_TEXT, "all of it in words" },
};

static const struct table_column sensitivity_column[] = {
    { "claim", TABLE_TEXT, "name of the claim; empty: none" },
    { "metric", TABLE_TEXT, "a column of summary.csv" },
    { "policy", TABLE_TEXT, "judged" },
    { "versus", TABLE_TEXT, "policy or point that it is compared with; empty: none" },
    { "point", TABLE_TEXT, "of the sweep" },
    { "input", TABLE_TEXT, "key that is varied" },
    { "from", TABLE_TEXT, "one end of its range, or the first of its words" },
    { "to", TABLE_TEXT, "the other end, or the last word" },
    { "base", TABLE_TEXT, "value in the experiment; empty: its default" },
    { "effect", TABLE_REAL, "mean absolute elementary effect over the whole range "
      "(Morris; mu*), in the unit of what is judged" },
    { "spread", TABLE_REAL, "standard deviation of the effects (sigma): interactions "
      "and curvature" },
    { "rank", TABLE_COUNT, "by effect, from 1" },
    { "sobol_first", TABLE_REAL, "share of the variance that the input makes alone" },
    { "sobol_first_low", TABLE_REAL, "its 95% interval, by the bootstrap" },
    { "sobol_first_high", TABLE_REAL, "its other end" },
    { "sobol_total", TABLE_REAL, "with all interactions with the other inputs that "
      "have indices" },
    { "sobol_total_low", TABLE_REAL, "its 95% interval, by the bootstrap" },
    { "sobol_total_high", TABLE_REAL, "its other end" },
    { "turns", TABLE_TEXT, "does the verdict turn within the range, all others at base: "
      "yes, no, forth and back, or not known" },
    { "turns_at", TABLE_TEXT, "first value of another verdict than at base; of one that is "
      "undecided, one on each side, with `or` between" },
    { "value_from", TABLE_REAL, "what is judged, at `from` with all others at base" },
    { "value_to", TABLE_REAL, "the same at `to`" },
    { "seeds", TABLE_COUNT, "of each value" },
    { "trials", TABLE_COUNT, "that all inputs together took" },
    { "why", TABLE_TEXT, "reason for the range, or why something is not known" },
    { "sentence", TABLE_TEXT, "what would turn the verdict, in words" },
};

static const struct table_column checks_column[] = {
    { "claim", TABLE_TEXT, "name of the claim" },
    { "point", TABLE_TEXT, "cell of the sweep" },
    { "metric", TABLE_TEXT, "a column of summary.csv" },
    { "policy", TABLE_TEXT, "judged" },
    { "vs", TABLE_TEXT, "compared with" },
    { "percent", TABLE_COUNT, "1: limits and values are in percent of vs" },
    { "at_least", TABLE_REAL, "lower limit; empty: none" },
    { "at_most", TABLE_REAL, "upper limit; empty: none" },
    { "confidence", TABLE_REAL, "of the interval" },
    { "seeds", TABLE_COUNT, "samples" },
    { "value", TABLE_REAL, "mean, or mean paired difference" },
    { "ci_low", TABLE_REAL, "its interval" },
    { "ci_high", TABLE_REAL, "its other end" },
    { "verdict", TABLE_TEXT, "holds, does not hold, undecided, not judged, failed "
      "trial" },
    { "reason", TABLE_TEXT, "in words" },
    { "vs_point", TABLE_TEXT, "point that it is compared with" },
};

static const struct table_column options_column[] = {
    { "point", TABLE_TEXT, "cell of the sweep; base: no sweep" },
    { "option", TABLE_TEXT, "its name; the column policy of the other tables" },
    { "policy", TABLE_TEXT, "entry of `policies` that it runs" },
    { "set", TABLE_TEXT, "keys of its own, as YAML; empty: none" },
    { "verdict", TABLE_TEXT, "take, best mean (the seeds do not decide), level with it, "
      "worse, dropped (it breaks a condition), undecided" },
    { "metric", TABLE_TEXT, "a column of summary.csv" },
    { "use", TABLE_TEXT, "decides, condition or shown" },
    { "at_least", TABLE_REAL, "lower limit of a condition; empty: none" },
    { "at_most", TABLE_REAL, "upper limit of a condition; empty: none" },
    { "seeds", TABLE_COUNT, "samples: trials that have the value" },
    { "mean", TABLE_REAL, "of the metric over the seeds" },
    { "ci95_low", TABLE_REAL, "lower end of the mean's 95% interval" },
    { "ci95_high", TABLE_REAL, "upper end of that interval" },
    { "delta_percent", TABLE_REAL,
      "mean against that of the first option, in percent of it" },
    { "delta_ci95_low_percent", TABLE_REAL,
      "lower end of its 95% interval, paired (Fieller)" },
    { "delta_ci95_high_percent", TABLE_REAL, "upper end of that interval" },
    { "p_holm", TABLE_REAL, "of that difference, corrected by Holm for all pairs of "
      "options at all points; of the metric that decides" },
    { "bad_seeds", TABLE_COUNT, "in which it breaks a condition or is worse than the first "
      "option; of a condition, in which it breaks that" },
    { "risk_fraction", TABLE_REAL, "share of the seeds that are bad" },
    { "risk_ci95_low", TABLE_REAL, "lower end of its 95% interval (Clopper and Pearson)" },
    { "risk_ci95_high", TABLE_REAL, "upper end of that interval" },
    { "quantile", TABLE_REAL, "share of the seeds that `quantile_value` stands for" },
    { "quantile_value", TABLE_REAL,
      "that share of the seeds has this value or a better one" },
    { "worst", TABLE_REAL, "value of the worst seed" },
    { "sentence", TABLE_TEXT, "which option to take at this point, in words" },
};

static const struct table_column failures_column[] = {
    { "point", TABLE_TEXT, "cell of the sweep" },
    { "policy", TABLE_TEXT, "name of the policy in this experiment" },
    { "seed", TABLE_COUNT, "replica" },
    { "place", TABLE_TEXT, "file and line, if there is one" },
    { "message", TABLE_TEXT, "why the trial failed" },
    { "hint", TABLE_TEXT, "what would help, if it is known" },
};

/* The column OF of job_columns.def, as a table. */
bool job_cell_of_done(enum job_cell column)
{
    enum { ALL, DONE };
    static const bool of_done[] = {
#define JOB_COLUMN(ID, COLUMN, TYPE, OF, HELP) OF == DONE,
#include "experiments/columns/job_columns.def"
#undef JOB_COLUMN
    };

    return of_done[column];
}

const struct csv_kind csv_summary = {
    "summary.csv", "one row per point, policy and seed",
    summary_column, COUNT_OF(summary_column)
};
const struct csv_kind csv_compare = {
    "compare.csv", "one row per point, policy and metric",
    compare_column, COUNT_OF(compare_column)
};
const struct csv_kind csv_jobs = {
    "jobs.csv", "one row per job", jobs_column, COUNT_OF(jobs_column)
};
const struct csv_kind csv_phases = {
    "phases.csv", "one row per run of a phase",
    phases_column, COUNT_OF(phases_column)
};
const struct csv_kind csv_timeline = {
    "timeline.csv", "one row per interval and pool",
    timeline_column, COUNT_OF(timeline_column)
};
const struct csv_kind csv_decisions = {
    "decisions.csv", "one row per request of the policy",
    decisions_column, COUNT_OF(decisions_column)
};
const struct csv_kind csv_arrived = {
    "arrived.csv", "one row per percent of the GPUs that was asked for, under "
    "`blocking: drop`", arrived_column, COUNT_OF(arrived_column)
};
const struct csv_kind csv_tenants = {
    "tenants.csv", "one row per tenant and trial, where there are two or more",
    tenants_column, COUNT_OF(tenants_column)
};
const struct csv_kind csv_services = {
    "services.csv", "one row per service and trial, where there are any",
    services_column, COUNT_OF(services_column)
};
const struct csv_kind csv_seeds = {
    "seeds.csv", "one row, where `seeds` says what they are to suffice for",
    seeds_column, COUNT_OF(seeds_column)
};
const struct csv_kind csv_metrics = {
    "metrics.csv", "one row per metric of the experiment's own, where it has any",
    metrics_column, COUNT_OF(metrics_column)
};
const struct csv_kind csv_border = {
    "border.csv", "one row per claim, point and key whose border was sought",
    border_column, COUNT_OF(border_column)
};
const struct csv_kind csv_sensitivity = {
    "sensitivity.csv", "one row per claim, point and input",
    sensitivity_column, COUNT_OF(sensitivity_column)
};
const struct csv_kind csv_checks = {
    "checks.csv", "one row per expectation and point",
    checks_column, COUNT_OF(checks_column)
};
const struct csv_kind csv_options = {
    "options.csv", "one row per point, option and metric, where there are options",
    options_column, COUNT_OF(options_column)
};
const struct csv_kind csv_failures = {
    "failures.csv", "one row per failed trial, where there are any",
    failures_column, COUNT_OF(failures_column)
};

/* Summary first, since it is what most people read; the order is that of the
 * manual's list.  A new table is added at the end. */
const struct csv_kind *csv_kind_at(size_t i)
{
    static const struct csv_kind *const kinds[] = {
        &csv_summary, &csv_compare, &csv_jobs, &csv_phases, &csv_timeline,
        &csv_decisions, &csv_services, &csv_arrived, &csv_tenants, &csv_seeds,
        &csv_metrics, &csv_checks, &csv_failures, &csv_border, &csv_sensitivity,
        &csv_options
    };

    return i < COUNT_OF(kinds) ? kinds[i] : NULL;
}
