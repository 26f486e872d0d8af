/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace.h - a file of past jobs: CSV whose columns the workload names, or SWF.
 *
 * The file is read once, when the workload is, which finds every fault before a
 * run and counts what was left out; trials stream its jobs from a job_store (see
 * job_store.h).  Nothing is sorted, mended or left out unless the workload tasks, and
 * then it is counted.
 */
#ifndef WORKLOADS_REPLAY_TRACE_H
#define WORKLOADS_REPLAY_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/jobs/birth.h"
#include "workloads/jobs/demand.h"

struct trace_spec;
struct trace;

const struct trace_spec *trace_read(const struct world *world,
                                    const struct conf_node *conf);
const struct job_form *trace_form(const struct trace_spec *spec);
struct source_counts trace_counts(const struct trace_spec *spec);
/* The first submission on the clock of a run. */
int64_t trace_begin_ns(const struct trace_spec *spec);
/* Requests of services begin at time 0, and so must the jobs beside them: no
 * later than the trace is long. */
bool trace_fits_services(const struct trace_spec *spec, struct err *err);
enum workload_estimate trace_estimate(const struct trace_spec *spec);
/* Is it another list for each replica? */
bool trace_draws(const struct trace_spec *spec);

/* A replica that no trial has: a list that is drawn anew, as the file is. */
#define TRACE_AS_FILED UINT32_MAX

/* A trial's walk through the jobs, all in the arena; names are good until the
 * next. */
struct trace *trace_open(struct arena *arena, const struct trace_spec *spec,
                         uint64_t seed, uint32_t replica);
enum source_step trace_next(struct trace *trace, struct job_birth *birth,
                            struct err *err);

extern const struct conf_schema trace_schema, trace_slice_schema,
    trace_skip_schema;

#endif
