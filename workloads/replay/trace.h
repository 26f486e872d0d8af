/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.h - replay of a file of past jobs: CSV whose columns the workload
 * names, SWF, or a published format.
 *
 * The file is read and judged together with the workload.  This finds every
 * error before a run, and counts the rows that were left out.  Trials do not
 * read the file: they stream the jobs from a job_store.  Rows are sorted,
 * repaired or left out only if the workload asks for it; then they are counted. */
#ifndef WORKLOADS_REPLAY_TRACE_H
#define WORKLOADS_REPLAY_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/jobs/birth.h"
#include "workloads/jobs/demand.h"

struct trace_spec;
struct trace;

/* Reads `trace:` and its file; NULL: *world->err is set. */
const struct trace_spec *trace_read(const struct world *world,
                                    const struct conf_node *conf);
/* Return the form of jobs that request GPUs only, and what the file held. */
const struct job_form *trace_form(const struct trace_spec *spec);
struct source_counts trace_counts(const struct trace_spec *spec);
/* Are its jobs applications of the catalogue, which take time to start? */
bool trace_has_applications(const struct trace_spec *spec);
/* Returns the time of the first submission in a run. */
int64_t trace_begin_ns(const struct trace_spec *spec);
/* Returns the seconds over which the work of `jobs` jobs is spread that are submitted
 * from the first of these instants to the last: n jobs have n - 1 gaps between them, and
 * one more of the same mean before the next would come.  0: they come at once. */
double trace_work_span_s(int64_t first_ns, int64_t last_ns, uint64_t jobs);
/* False, with *err set: the trace begins too late for services beside it.
 * Their requests begin at time 0, so the trace must begin no later than it is
 * long. */
bool trace_fits_services(const struct trace_spec *spec, struct err *err);
enum workload_estimate trace_estimate(const struct trace_spec *spec);
/* True: the file names a column of priorities, or a job has one that is not 0. */
bool trace_states_priority(const struct trace_spec *spec);
/* Returns the tenants of its jobs, each once, and stores their number. */
const char *const *trace_tenants(const struct trace_spec *spec, size_t *count);
/* True: each replica has another list. */
bool trace_draws(const struct trace_spec *spec);

/* The number of a replica that no trial has: the list as it is in the file. */
#define TRACE_AS_FILED UINT32_MAX

/* Returns the stream of jobs of a trial, in the arena.  The name of a job is
 * valid until the next call of trace_next(). */
struct trace *trace_open(struct arena *arena, const struct trace_spec *spec,
                         uint64_t seed, uint32_t replica);
enum source_step trace_next(struct trace *trace, struct job_birth *birth,
                            struct err *err);

extern const struct conf_schema trace_schema, trace_slice_schema,
    trace_skip_schema;

#endif
