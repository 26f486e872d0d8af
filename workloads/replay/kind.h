/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kind.h - jobs of a trace that request more than a number of GPUs: cores,
 * memory, GPU types or memory of GPUs.
 *
 * Jobs with equal requests share one form, their kind.  Kinds are made while
 * the file is checked.
 */
#ifndef WORKLOADS_REPLAY_KIND_H
#define WORKLOADS_REPLAY_KIND_H

#include "models/jobs/job.h"
#include "workloads/formats/trace_row.h"
#include "workloads/jobs/demand.h"

struct trace_kinds;

/* A form that jobs with equal requests share, and what the cluster has for them
 * if nothing else runs. */
struct trace_kind {
    struct job_form form;       /* of its jobs */
    uint32_t gpus_max;          /* most GPUs that could run; of a pod: on one
                                   node */
    uint64_t milli_max;         /* of these, thousandths that power_cap lets run */
    bool runs;                  /* a pod without GPUs: a node can hold it, and power_cap
                                   allows it */
    bool has_type;              /* the cluster has a GPU type that it allows */
};

/* `base`: the form of jobs that request GPUs only.  Memory comes from world->arena. */
struct trace_kinds *trace_kinds_new(const struct world *world, const struct job_form *base);
/* True: the row needs a form of its own. */
bool trace_kind_needed(const struct trace_kinds *kinds, const struct row *row);
/* Returns the most memory in MiB of a GPU that jobs may use; UINT32_MAX: not known. */
uint32_t trace_kinds_memory(const struct trace_kinds *kinds);
/* Returns the kind of a row, and makes it if it is new. */
const struct trace_kind *trace_kind_make(struct trace_kinds *kinds,
                                         const struct world *world,
                                         const struct row *row);

#endif
