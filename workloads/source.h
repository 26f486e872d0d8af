/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.h - a workload, and its stream of jobs.
 *
 * A workload_spec is what the file states: forms expanded from recipes, an
 * arrival process and distributions, or a trace.  It is read and checked once;
 * all trials share it.  A source is the stream of jobs of one trial.  It
 * depends on (seed, replica) only, not on the policy.  Jobs come in ascending
 * submit time and are numbered from 0.  A trace that is not sorted is an error,
 * unless the file asks for sorting.
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

/* Reads and checks a workload, and returns it in the arena.  NULL: *err is set.
 * Every role must be able to run somewhere on the cluster; otherwise the error
 * has a place and says how many bytes or GPUs are missing, where, and what
 * would make the role fit.  File names are relative to the folder of the file
 * that names them. */
const struct workload_spec *workload_read(struct arena *arena,
                                          const struct conf_node *conf,
                                          const struct catalogue *catalogue,
                                          const struct cluster_spec *cluster,
                                          struct err *err);
/* Returns the schemas of all keys of a workload, for `explain` and `schema`. */
const struct conf_schema *const *workload_schemas(size_t *count);
/* Forms: one for each entry of a mix; one for a trace. */
size_t workload_form_count(const struct workload_spec *spec);
const struct job_form *workload_form(const struct workload_spec *spec,
                                     size_t i);

/* True: jobs or requests may depend on the replica.  False only for a trace
 * that is replayed unchanged and alone. */
bool workload_draws(const struct workload_spec *spec);

/* Returns a job of form i as its owner submits it: of a mix with the largest
 * number of GPUs that it can draw; of a trace with its role only. */
struct job_request workload_request(const struct workload_spec *spec,
                                    size_t i);
/* Fills note[] with at most `room` notes on form i; returns their number. */
size_t workload_notes(struct arena *arena, const struct workload_spec *spec,
                      size_t i, struct workload_note *note, size_t room);
/* The mean work of an entry of a mix. */
/* The mean work of an entry of a mix.  gpus and gpu_s are 0 for jobs that have
 * steps. */
struct workload_mean {
    double share;               /* of this entry in all jobs */
    double runs;                /* mean runs of the graph of phases */
    double gpus, gpu_s;         /* means, of jobs of known length */
};
struct workload_mean workload_mean(const struct workload_spec *spec,
                                   size_t i);
/* Returns the mean jobs per second; 0 for a trace, for listed times, and for
 * all at once. */
double workload_rate_per_s(const struct workload_spec *spec);
/* True: its jobs come from a trace.  There may be services beside it. */
bool workload_is_trace(const struct workload_spec *spec);

/* Services, for services.h. */
struct service_entry;
size_t workload_service_count(const struct workload_spec *spec);
const struct service_entry *workload_service(const struct workload_spec *spec,
                                             size_t i);

/* Returns the time of a trace's first submission in a run: 0, except with
 * `origin: file`; 0 for a mix. */
int64_t workload_begin_ns(const struct workload_spec *spec);
/* True: a trace and nothing else.  A run then starts at its first job, because
 * nothing is known of the time before. */
bool workload_is_trace_alone(const struct workload_spec *spec);
/* Returns the largest number of jobs, by its trace or by `jobs:`; 0: not
 * known. */
uint64_t workload_jobs(const struct workload_spec *spec);
/* Returns the time of `for:`, when a mix's arrivals end; CLOCK_NEVER_NS: the
 * file has no such key. */
int64_t workload_for_ns(const struct workload_spec *spec);
/* Returns the time from which no job of a mix arrives because its times or rates have
 * ended; CLOCK_NEVER_NS: they do not end, or there is no mix. */
int64_t workload_arrivals_end_ns(const struct workload_spec *spec);
/* Returns how many jobs of such a mix arrive, by its seed, until `jobs:`, `for:` or that
 * time.  O(jobs); the jobs themselves are not drawn. */
uint64_t workload_arrivals(const struct workload_spec *spec, uint64_t seed,
                           uint32_t replica);
/* Returns what the trace file held; all zero for a mix. */
struct source_counts workload_counts(const struct workload_spec *spec);
/* True: some job has a limit; has a deadline; requests a part of a GPU; has steps. */
bool workload_has_limits(const struct workload_spec *spec);
bool workload_has_deadlines(const struct workload_spec *spec);
bool workload_has_parts(const struct workload_spec *spec);
bool workload_has_steps(const struct workload_spec *spec);
/* True: jobs are applications of the catalogue, which take time to start. */
bool workload_has_applications(const struct workload_spec *spec);
/* True: some job generates responses in a phase of its own. */
bool workload_generates(const struct workload_spec *spec);
/* True: a role may run on GPUs or on cores. */
bool workload_has_choices(const struct workload_spec *spec);
/* True: some jobs or services state a priority. */
bool workload_states_priority(const struct workload_spec *spec);
/* Returns the tenant of the i-th of entries, services and rows of a trace, from 0; ""
 * where it has none, NULL behind the last.  A tenant may come more than once. */
const char *workload_tenant(const struct workload_spec *spec, size_t i);

/* Returns what policies know of run times; ESTIMATE_EXACT for a mix. */
enum workload_estimate workload_estimate(const struct workload_spec *spec);
/* Stores in *demand, in the arena, the kinds of jobs of the workload and how
 * many there are of each: of a trace among all its jobs, of a mix among its
 * first DEMAND_DRAWN.  False: *err is set. */
#define DEMAND_DRAWN 2000u
bool workload_demand(struct arena *arena, const struct workload_spec *spec,
                     uint64_t seed, const struct place_demand **demand,
                     size_t *count, struct err *err);

/* Returns a hash of what comes first in a trial: that many jobs, and that many requests to
 * each service.  Equal hashes of two runs: their jobs are the same up to there. */
#define FINGERPRINT_DRAWN 1000u
uint64_t workload_fingerprint(const struct workload_spec *spec, uint64_t seed,
                              uint32_t replica);

/* Returns the stream of jobs of a trial; it lives in the arena. */
struct source *source_open(struct arena *arena,
                           const struct workload_spec *spec, uint64_t seed,
                           uint32_t replica);
/* Stores the next job in *birth; its name is valid until the next call.
 * SOURCE_ERROR: *err is set. */
enum source_step source_next(struct source *source, struct job_birth *birth,
                             struct err *err);

#endif
