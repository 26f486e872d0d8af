/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outage.h - failures of GPUs, nodes, switches and jobs, and the intervals of
 * checkpoints.
 *
 * Failures are Poisson processes.  A failure of hardware takes its node out of
 * service until it is repaired; a failure of a leaf switch takes all nodes
 * below it.  Software, data and operators interrupt a running job at a rate
 * that does not depend on its size.  Without this rate the failures of nodes
 * alone predict 28.8 h between interruptions for 1,024 GPUs, where 7.9 h were
 * measured (Kokolis et al. 2024, arXiv 2410.21680).
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
    int64_t gpu_mtbf_ns;        /* of one GPU; its node fails with it */
    int64_t node_mtbf_ns;       /* of one node, its GPUs left out */
    int64_t switch_mtbf_ns;     /* of one leaf switch */
    int64_t job_mtbf_ns;        /* of one running job, not by hardware */
    int64_t repair_ns;          /* time out of service */
    int64_t restart_ns;         /* of an interrupted job, in its new lease,
                                   loading not included */
    const struct conf_node *trace;      /* key `trace`, as written */
    const struct faults *recorded;      /* that file, read; NULL: none */
    int64_t checkpoint_ns;      /* part of its length after which a job of known
                                   length saves, at no cost; 0: never, an
                                   interrupted job starts from its begin */
};

extern const struct conf_schema outage_schema;
/* Fills *spec from the mapping `failures:`.  False: *err says what is wrong. */
bool outage_read(const struct conf_node *conf, struct outage_spec *spec,
                 struct err *err);

/* Returns failures per second of that number of GPUs, nodes and switches. */
double outage_hardware_per_s(const struct outage_spec *spec, double gpus,
                             double nodes, double switches);
/* Returns the mean seconds until a job on that hardware is interrupted;
 * INFINITY: never. */
double outage_mtti_s(const struct outage_spec *spec, double gpus,
                     double nodes, double switches);

/* Return the best interval between the ends of two saves, in seconds: to first
 * order (Young 1974) and to higher order (Daly 2006, equation 37).  save_s:
 * time of a save; mtti_s: mean time to interruption. */
double outage_young_s(double save_s, double mtti_s);
double outage_daly_s(double save_s, double mtti_s);
/* Returns the expected seconds for work_s of progress that is saved every
 * interval_s.  A restart can be interrupted, too (Daly 2006, equation 20). */
double outage_expected_s(double work_s, double interval_s, double save_s,
                         double restart_s, double mtti_s);

#endif
