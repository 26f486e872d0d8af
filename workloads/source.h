/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.h - where jobs come from, one job at a time.
 *
 * A workload_spec is what the file says: forms expanded from recipes, arrival
 * process, distributions, or a trace file; read and checked once, shared by
 * all trials.  A source is one trial's stream of jobs: the same for the same
 * (seed, replica), whatever the policy.  Jobs come in ascending submit time
 * and are numbered from 0; a trace that is not sorted is an error, not a sort.
 */
#ifndef WORKLOADS_SOURCE_H
#define WORKLOADS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/jobs/job.h"
#include "workloads/jobs/birth.h"

struct arena;
struct catalogue;
struct cluster_spec;
struct conf_node;
struct conf_schema;
struct err;
struct place_demand;
struct source;
struct workload_spec;

/* Reads and checks: every role must be able to run somewhere on the cluster;
 * if not, the error is located and says how many bytes or GPUs are missing,
 * where, and what would make it fit.  Relative file names are taken from the
 * folder of the file that names them. */
const struct workload_spec *workload_read(struct arena *arena,
                                          const struct conf_node *conf,
                                          const struct catalogue *catalogue,
                                          const struct cluster_spec *cluster,
                                          struct err *err);
/* Schemas of all keys a workload may have; for explain and schema. */
const struct conf_schema *const *workload_schemas(size_t *count);
size_t workload_form_count(const struct workload_spec *spec);
const struct job_form *workload_form(const struct workload_spec *spec,
                                     size_t i);

/* Could its jobs or requests depend on the replica?  Only a trace that is
 * replayed as it stands, alone, surely does not. */
bool workload_draws(const struct workload_spec *spec);

/* A job of that form as its owner asks for it: of a mix, with the largest number
 * of GPUs that it draws.  Of a trace nothing is known but the role. */
struct job_request workload_request(const struct workload_spec *spec,
                                    size_t i);
/* At most `room` of them; returns how many. */
size_t workload_notes(struct arena *arena, const struct workload_spec *spec,
                      size_t i, struct workload_note *note, size_t room);
/* Mean work of a mix in the long run. */
struct workload_mean {
    double share;               /* of all jobs */
    double runs;                /* of the graph of phases, mean */
    double gpus, gpu_s;         /* of jobs of known length: means */
};
struct workload_mean workload_mean(const struct workload_spec *spec,
                                   size_t i);
/* Jobs per second, mean; 0: of a trace, at listed times, or all at once. */
double workload_rate_per_s(const struct workload_spec *spec);
/* Do its jobs come from a trace?  There may be services beside it. */
bool workload_is_trace(const struct workload_spec *spec);

/* Services, for services.h. */
struct service_entry;
size_t workload_service_count(const struct workload_spec *spec);
const struct service_entry *workload_service(const struct workload_spec *spec,
                                             size_t i);

/* The first submission of a trace on the clock of a run, 0 but for `origin:
 * file`; 0 for all others. */
int64_t workload_begin_ns(const struct workload_spec *spec);
/* Is all of it one trace?  A run then counts from its first job: nothing that
 * the trace knows of happens before. */
bool workload_is_trace_alone(const struct workload_spec *spec);
/* Jobs that will come at most, as its trace or `jobs:` says; 0: not known. */
uint64_t workload_jobs(const struct workload_spec *spec);
/* When a mix's arrivals end by `for:`; CLOCK_NEVER_NS: it does not say. */
int64_t workload_for_ns(const struct workload_spec *spec);
/* All zero for a workload that is no trace. */
struct source_counts workload_counts(const struct workload_spec *spec);
/* Does any job say how long it may run; want part of a GPU; have steps? */
bool workload_has_limits(const struct workload_spec *spec);
bool workload_has_parts(const struct workload_spec *spec);
bool workload_has_steps(const struct workload_spec *spec);
enum workload_estimate workload_estimate(const struct workload_spec *spec);

/* Kinds of jobs that the workload has and how many there are of each: of a
 * trace all of its jobs, of a mix those of its first DEMAND_DRAWN. */
#define DEMAND_DRAWN 2000u
bool workload_demand(struct arena *arena, const struct workload_spec *spec,
                     uint64_t seed, const struct place_demand **demand,
                     size_t *count, struct err *err);

/* A trial's stream of jobs; never NULL, ends with the arena. */
struct source *source_open(struct arena *arena,
                           const struct workload_spec *spec, uint64_t seed,
                           uint32_t replica);
/* The name of a job is good until the next call. */
enum source_step source_next(struct source *source, struct job_birth *birth,
                             struct err *err);

#endif
