/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulators_out.h - whole jobs, and the cluster, as other simulators read them:
 * BatSim and OpenDC.
 */
#ifndef EXPERIMENTS_IMPORT_SIMULATORS_OUT_H
#define EXPERIMENTS_IMPORT_SIMULATORS_OUT_H

#include <stdint.h>

#include "experiments/import/jobs_out.h"

struct arena;
struct cluster_spec;
struct out;

/* Numbers of jobs with something that the other simulator has no field for. */
struct simulators_lost {
    uint64_t parts;             /* of a GPU: BatSim takes a whole one */
    uint64_t no_gpus;           /* cores alone: left out */
    uint64_t cores, types, tenants, priorities, deadlines, limits;
    uint64_t rounded;           /* times that are no whole ms: rounded up */
};

/* Writes a workload of BatSim: nb_res GPUs, a job for each, and a delay profile for
 * each run time.  Jobs without GPUs are left out; scratch memory comes from the
 * arena. */
struct simulators_lost batsim_out(struct arena *arena, struct out *out,
                                  const struct jobs *jobs, uint64_t nb_res);

/* Write the two tables of OpenDC's trace, which it takes as Parquet.  A GPU is a
 * CPU of OPENDC_MHZ; jobs without GPUs are left out. */
#define OPENDC_MHZ 1000
struct simulators_lost opendc_tasks_out(struct out *out,
                                        const struct jobs *jobs);
void opendc_fragments_out(struct out *out, const struct jobs *jobs);
/* Writes its topology: hosts whose CPUs are the nodes' GPUs. */
void opendc_topology_out(struct out *out, const struct cluster_spec *cluster);

#endif
