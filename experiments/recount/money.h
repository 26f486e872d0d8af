/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * money.h - dollars and joules by cause, from leases, nodes and the clock.
 */
#ifndef EXPERIMENTS_RECOUNT_MONEY_H
#define EXPERIMENTS_RECOUNT_MONEY_H

#include <stdint.h>

struct cluster_spec;
struct judge;
struct recount_books;
struct recount_parts;

/* What is asked of one trial. */
struct asked {
    const struct recount_books *books;
    const struct recount_parts *parts;
    const struct cluster_spec *cluster;
    const double *value;
    int64_t end_ns;
    double span_s, all_gpu_s;   /* of the run, of all GPUs that were there */
    double core_s;
    struct judge *judge;
};

/* Compares cost, energy and their parts; sets core_s. */
void money_judge(struct asked *asked);
/* Returns the core-seconds that rounding is of: flows end at whole nanoseconds. */
double money_core_scale(const struct asked *asked);

#endif
