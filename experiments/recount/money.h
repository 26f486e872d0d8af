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
    const struct recount_books *books;      /* what was added up again */
    const struct recount_parts *parts;      /* what the trial published */
    const struct cluster_spec *cluster;
    const double *value;        /* the trial's metrics, by enum metric */
    int64_t end_ns;             /* of the run */
    double span_s, all_gpu_s;   /* of the run, of all GPUs that were there */
    double core_s;              /* core-seconds at work; set by money_judge() */
    struct judge *judge;        /* notes what differs */
};

/* Compares cost, energy and their parts; sets core_s. */
void money_judge(struct asked *asked);
/* Returns the core-seconds that rounding is of: flows end at whole nanoseconds. */
double money_core_scale(const struct asked *asked);

#endif
