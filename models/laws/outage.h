/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outage.h - what fails: GPUs, nodes and switches of a cluster, and jobs by
 * faults that no hardware has; and what checkpoints make of it.
 *
 * Faults come as Poisson processes.  Hardware takes its node out of service
 * for the time of repair, a leaf switch all nodes below it.  Software, data
 * and operators interrupt a running job at a rate of its own, whatever its
 * size: without that, a rate per node says 28.8 h for 1,024 GPUs where 7.9 h
 * were measured (Kokolis et al. 2024, arXiv 2410.21680).
 */
#ifndef MODELS_LAWS_OUTAGE_H
#define MODELS_LAWS_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

struct conf_node;
struct faults;
struct conf_schema;
struct err;

/* Mean times between failures; 0: never. */
struct outage_spec {
    int64_t gpu_mtbf_ns;        /* of one GPU, its node with it */
    int64_t node_mtbf_ns;       /* of one node, by what is not a GPU */
    int64_t switch_mtbf_ns;     /* of one leaf switch */
    int64_t job_mtbf_ns;        /* of one running job, by no hardware */
    int64_t repair_ns;          /* out of service */
    int64_t restart_ns;         /* until an interrupted job runs again, beside
                                   loading; part of its lease */
    const struct conf_node *trace;      /* models/cluster/faults.h, as written */
    const struct faults *recorded;      /* the same, read; or NULL */
    int64_t checkpoint_ns;      /* a job of known length saves so often, at no
                                   cost; 0: it begins anew */
};

extern const struct conf_schema outage_schema;
bool outage_read(const struct conf_node *conf, struct outage_spec *spec,
                 struct err *err);

/* Failures per second of a part of the cluster. */
double outage_hardware_per_s(const struct outage_spec *spec, double gpus,
                             double nodes, double switches);
/* Mean seconds to the interruption of a job; INFINITY: never. */
double outage_mtti_s(const struct outage_spec *spec, double gpus,
                     double nodes, double switches);

/* Interval between the ends of saves that wastes least, to first order (Young
 * 1974) and to higher order (Daly 2006, equation 37). */
double outage_young_s(double save_s, double mtti_s);
double outage_daly_s(double save_s, double mtti_s);
/* Expected seconds for work_s of progress that is saved every interval_s, a
 * restart being interrupted like any other time (Daly 2006, equation 20). */
double outage_expected_s(double work_s, double interval_s, double save_s,
                         double restart_s, double mtti_s);

#endif
