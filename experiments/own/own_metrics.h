/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_metrics.h - metrics that an experiment defines: expressions over columns of
 * summary.csv and aggregates over rows of jobs.csv.
 *
 * An expression reads the built-in metrics and those that stand before it.  Rows are
 * the jobs that built-in metrics count: submitted after the warm-up, and no replicas
 * of services.
 *
 * An aggregate that reads how a job came to its end (job_columns.def) is of the jobs
 * that were done, unless its `where` reads `status`.  A metric that has such an
 * aggregate, that reads a built-in metric of what was done, or that divides by a count
 * of what was done, is not compared where some were not: enum metric_of.
 */
#ifndef EXPERIMENTS_OWN_OWN_METRICS_H
#define EXPERIMENTS_OWN_OWN_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/columns/metric.h"

struct arena;
struct conf_node;
struct conf_schema;
struct err;
struct expr;

struct own_metric {
    const struct expr *expr;    /* the parsed text of `of:` */
    const bool *of_done;        /* by aggregate: of jobs that were done alone */
};

struct own_metrics {
    struct metric_set set;      /* with the built-in ones; names, units ... */
    const struct own_metric *metric;    /* by number, set.own_count */
    bool of_rows;               /* some aggregate must be shown the jobs */
    uint64_t hash;              /* of all expressions; 0: there are none */
};

extern const struct conf_schema own_metrics_schema;
/* Reads `metrics:` of an experiment; node NULL: there are none, and the result is
 * an empty set.  All memory comes from the arena; texts are those of the tree of
 * `node`, which must live as long.  NULL: err says why, with the place in the
 * file. */
const struct own_metrics *own_metrics_read(struct arena *arena,
                                           const struct conf_node *node,
                                           struct err *err);

/* Return the word of the file for `better` (-1, 0, +1: "less", "neither", "more")
 * and for `over`.  Static texts. */
const char *own_metric_better(int better);
const char *own_metric_over(enum metric_of of);
/* The reverse, for metrics.csv of an earlier run.  False, and nothing set: it is
 * none of these words. */
bool own_metric_better_read(const char *text, int *better);
bool own_metric_over_read(const char *text, enum metric_of *of);

#endif
