/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * workload_spec.h - what a workload file states, for the files of this folder alone.
 */
#ifndef WORKLOADS_WORKLOAD_SPEC_H
#define WORKLOADS_WORKLOAD_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/random/arrival.h"

struct entry;
struct service_entry;
struct trace_spec;

/* It does not change after reading, and trials share it.  Its jobs are those of a
 * mix, those of a trace, or none: then it has services. */
struct workload_spec {
    struct arrival arrival;     /* when jobs of a mix come */
    uint64_t jobs_max;          /* UINT64_MAX: no limit */
    int64_t for_ns;             /* CLOCK_NEVER_NS: no limit */
    struct entry *entry;        /* of the mix, by name */
    double *share;              /* of each entry; their sum is above 0 */
    size_t entry_count;         /* 0: no mix */
    const struct trace_spec *trace;     /* NULL: a mix */
    struct service_entry *service;  /* [service_count], in the order of the file */
    size_t service_count;
};

#endif
