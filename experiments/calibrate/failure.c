/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * failure.c - mean time to interruption of large jobs, and the law
 * of outage.h.
 *
 * Hardware: 6.5 failures in 1000 node-days on RSC-1 (Kokolis et al. 2024, arXiv
 * 2410.21680); 324 of 419 interruptions of Llama 3 in 54 days (arXiv
 * 2407.21783, table 5).  The rate of a job by no hardware is what is left of
 * the 7.9 h that RSC-1's jobs of 1,024 GPUs had: chosen there, and used for
 * both.  Projections of a publisher are no measurements.
 */
#include "experiments/calibrate/suites.h"

#include "experiments/calibrate/row.h"
#include "models/laws/outage.h"

#define HOUR_S 3600.0
#define NODE_MTBF_H (24.0 / 6.5e-3)
#define GPU_MTBF_H (16384.0 * 54.0 * 24.0 / 324.0)
#define JOB_MTBF_H (1.0 / (1.0 / 7.9 - 1024.0 / 8.0 / NODE_MTBF_H))

/* Hours in ns; 1e6 h still fit. */
static int64_t hours_ns(double hours)
{
    return (int64_t)(hours * HOUR_S * 1e9);
}

/* A job of n GPUs on nodes of 8; no time is lost to restarts (0.0), as the rows
 * give the time between interruptions alone. */
const char *calibrate_interruption(const struct calibrate_row *row,
                                   double *measured, double *predicted)
{
    bool llama = row_is(row, "category", "derived") &&
                 row_is(row, "metric", "MTTI");
    bool rsc = row_is(row, "category", "job MTTF") &&
               row_is(row, "metric", "measured");
    struct outage_spec spec = { .job_mtbf_ns = hours_ns(JOB_MTBF_H) };
    double gpus = row_number(row, "scale_gpus", 0.0);

    if (!llama && !rsc)
        return calibrate_not_mine;
    if (llama)
        spec.gpu_mtbf_ns = hours_ns(GPU_MTBF_H);
    else
        spec.node_mtbf_ns = hours_ns(NODE_MTBF_H);
    *measured = row_number(row, "value", 0.0) * HOUR_S;
    *predicted = outage_mtti_s(&spec, gpus, gpus / 8.0, 0.0);
    return NULL;
}
