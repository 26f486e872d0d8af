/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calibrate_comm.c - measured collectives, and the law of comm.h.
 */
#include "experiments/calibrate_suites.h"

#include "experiments/calibrate_row.h"
#include "models/comm.h"

#define LARGE_BYTES (64.0 * 1024.0 * 1024.0)

static const char *predict(const struct calibrate_row *row, double least,
                           double *measured, double *predicted)
{
    static const struct { const char *name; enum comm_op op; } ops[] = {
        { "all_reduce", COMM_ALL_REDUCE }, { "all_gather", COMM_ALL_GATHER },
        { "reduce_scatter", COMM_REDUCE_SCATTER },
        { "alltoall", COMM_ALL_TO_ALL },
    };
    const struct gpu_type *gpu = row_gpu(row, "system");
    uint32_t gpus = row_count(row, "gpus", 1);
    double bytes = row_number(row, "bytes", 0.0);

    if (bytes < least)
        return calibrate_not_mine;
    if (gpu == NULL)
        return "the GPU is not in the catalogue";
    *measured = row_number(row, "latency_us", 0.0) * 1e-6;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (row_is(row, "op", ops[i].name)) {
            struct gang gang = row_gang(gpu, gpus, gpus, 0.0);

            *predicted = comm_gang_s(ops[i].op, &gang, bytes);
            return NULL;
        }
    return "no such collective in the simulator";
}

const char *calibrate_collective(const struct calibrate_row *row,
                                 double *measured, double *predicted)
{
    return predict(row, 0.0, measured, predicted);
}

const char *calibrate_collective_large(const struct calibrate_row *row,
                                       double *measured, double *predicted)
{
    return predict(row, LARGE_BYTES, measured, predicted);
}
