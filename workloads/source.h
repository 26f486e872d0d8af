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

#include "models/job.h"
#include "models/truth.h"

struct arena;
struct catalogue;
struct cluster_spec;
struct conf_node;
struct conf_schema;
struct err;
struct source;
struct workload_spec;

struct job_birth {
    struct job_request request;
    struct job_truth truth;
};

enum source_step { SOURCE_JOB, SOURCE_END, SOURCE_ERROR };

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

struct source *source_open(struct arena *arena,
                           const struct workload_spec *spec, uint64_t seed,
                           uint32_t replica, struct err *err);
enum source_step source_next(struct source *source, struct job_birth *birth,
                             struct err *err);
void source_close(struct source *source);               /* accepts NULL */

#endif
