/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metric.h - the figures that a trial yields, and the tables that hold them.
 */
#ifndef EXPERIMENTS_COLUMNS_METRIC_H
#define EXPERIMENTS_COLUMNS_METRIC_H

#include <stdbool.h>
#include <stdint.h>

/* What may be written into a results folder beside summary.csv; bits, so that an
 * experiment has a set of them. */
enum experiment_table {
    EXPERIMENT_COMPARE = 1u << 0, EXPERIMENT_JOBS = 1u << 1, EXPERIMENT_PHASES = 1u << 2,
    EXPERIMENT_TIMELINE = 1u << 3, EXPERIMENT_DECISIONS = 1u << 4,
    EXPERIMENT_SERVICES = 1u << 5, EXPERIMENT_ARRIVED = 1u << 6,
    EXPERIMENT_TENANTS = 1u << 7
};

/* What a trial measures: metrics.def, in its order.  Metrics of an experiment's own
 * (`metrics:`) follow: they count on from METRIC_COUNT, up to metric_count(). */
enum metric {
#define METRIC(ID, ...) METRIC_##ID,
#include "experiments/columns/metrics.def"
#undef METRIC
    METRIC_COUNT
};
#define METRIC_OWN_MAX 32
#define METRIC_ROOM (METRIC_COUNT + METRIC_OWN_MAX)     /* of a value for each */

/* What a metric is computed over: all jobs and requests, or only those that came to their end.
 * It is a set of two bits, since a metric of an experiment's own may be over jobs and requests
 * that were done.  Where two policies did not finish the same jobs, means over jobs that were
 * done are not compared: each would be over jobs that its policy chose. */
enum metric_of {
    METRIC_OF_ALL, METRIC_OF_JOBS_DONE, METRIC_OF_REQUESTS_DONE, METRIC_OF_BOTH_DONE
};

/* What is known of a metric; texts live as long as the set. */
struct metric_info {
    const char *name;           /* column: jct_mean_s ... */
    const char *unit;           /* "s", "USD", "fraction", "count" ... */
    const char *help;
    const char *title;          /* what charts call it; NULL: none shows it */
    enum metric_of of;
    const char *expression;     /* of one of an experiment's own; NULL: built in */
    bool count;                 /* a whole number */
    int better;                 /* +1 more is better, -1 less, 0 neither */
};

/* All metrics of an experiment, or of a results folder: the built-in ones and its
 * own.  Code that goes through metrics, or finds one by its name, asks the set; NULL
 * has the built-in ones alone. */
struct metric_set {
    const struct metric_info *own;  /* [own_count], numbered behind the built-in ones */
    uint32_t own_count;         /* at most METRIC_OWN_MAX */
};
/* Returns the number of metrics of the set, built-in ones included; `set` may be
 * NULL here and below. */
unsigned metric_count(const struct metric_set *set);
/* Returns what is known of a metric; it must be below metric_count(set). */
const struct metric_info *metric_info(const struct metric_set *set,
                                      enum metric metric);
/* Returns the metric of that name, or metric_count(set) if there is none.  Linear. */
enum metric metric_find(const struct metric_set *set, const char *name);
/* Sets the times of jobs to NAN where no job was done: a mean over nothing is not
 * 0.  `value` is by metric; only built-in ones are read and set. */
void metric_blank_unknown(double *value);
/* Returns how many requests a trial left without an answer; 0 without services. */
double metric_unanswered(const double *value);
/* Returns by how many more of them another trial with the same requests is not yet one
 * that answers fewer: none, or where `until` cuts the run off (cut) 0.1% of all, since
 * requests are under way at its end. */
double metric_unanswered_excused(const double *value, bool cut);
/* Returns the metric of the same meaning in another set, by its name and, of an
 * experiment's own, its expression; metric_count(other) if there is none. */
enum metric metric_same(const struct metric_set *set, enum metric metric,
                        const struct metric_set *other);

#endif
