/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kind.h - jobs of a trace that differ in more than GPUs: what they ask
 * of cores, memory and types of GPU makes a form of its own, shared by all
 * jobs that ask alike.
 *
 * Kinds are made while the file is checked; trials only look them up.
 */
#ifndef WORKLOADS_REPLAY_KIND_H
#define WORKLOADS_REPLAY_KIND_H

#include "models/jobs/job.h"
#include "workloads/jobs/demand.h"
#include "workloads/formats/trace_row.h"

struct trace_kinds;

struct trace_kind {
    struct job_form form;
    uint32_t gpus_max;          /* largest that could run; of a pod on a node */
    bool runs;                  /* a pod without GPUs: could it? */
    bool has_type;              /* the cluster has a type that it takes */
};

/* `base` is the form of jobs that ask for GPUs alone. */
struct trace_kinds *trace_kinds_new(struct arena *arena,
                                    const struct job_form *base);
/* Does the row need a form of its own? */
bool trace_kind_needed(const struct row *row);
const struct trace_kind *trace_kind_find(const struct trace_kinds *kinds,
                                         const struct row *row);
/* The same, made where it is new. */
const struct trace_kind *trace_kind_make(struct trace_kinds *kinds,
                                         const struct world *world,
                                         const struct row *row);

#endif
