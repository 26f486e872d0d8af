/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metric.h - the figures that a trial yields, and the tables that hold them.
 */
#ifndef EXPERIMENTS_COLUMNS_METRIC_H
#define EXPERIMENTS_COLUMNS_METRIC_H

#include <stdbool.h>

/* What may be written into a results folder beside summary.csv. */
enum experiment_table {
    EXPERIMENT_COMPARE = 1u << 0, EXPERIMENT_JOBS = 1u << 1, EXPERIMENT_PHASES = 1u << 2,
    EXPERIMENT_TIMELINE = 1u << 3, EXPERIMENT_DECISIONS = 1u << 4,
    EXPERIMENT_SERVICES = 1u << 5, EXPERIMENT_ARRIVED = 1u << 6,
    EXPERIMENT_TENANTS = 1u << 7
};

/* What a trial measures: metrics.def, in its order. */
enum metric {
#define METRIC(ID, ...) METRIC_##ID,
#include "experiments/columns/metrics.def"
#undef METRIC
    METRIC_COUNT
};

/* Of what a metric is: of all, or of what came to its end. */
enum metric_of {
    METRIC_OF_ALL, METRIC_OF_JOBS_DONE, METRIC_OF_REQUESTS_DONE
};

struct metric_info {
    const char *name;           /* column: jct_mean_s ... */
    const char *unit;           /* "s", "USD", "fraction", "count" ... */
    const char *help;
    const char *title;          /* what charts call it; NULL: none shows it */
    enum metric_of of;
    bool count;                 /* a whole number */
    int better;                 /* +1 more is better, -1 less, 0 neither */
};
const struct metric_info *metric_info(enum metric metric);
/* METRIC_COUNT if there is none of that name. */
enum metric metric_find(const char *name);

#endif
