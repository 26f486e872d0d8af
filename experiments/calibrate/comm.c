/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * comm.c - measured collectives, and the law of comm.h.
 *
 * Two kinds of rows: collectives within a node, as AIConfigurator publishes
 * them (a time for an operation, a number of GPUs and bytes), and single
 * results of nccl-tests by others, which state a bus bandwidth.
 */
#include "experiments/calibrate/suites.h"

#include <string.h>

#include "experiments/calibrate/row.h"
#include "models/catalogue/catalogue.h"
#include "models/laws/comm.h"

/* From 64 MiB on, bandwidth decides and latency does not. */
#define LARGE_BYTES (64.0 * 1024.0 * 1024.0)

/* Predicts a row of collectives.csv of at least `least` bytes. */
static const char *predict_collective(const struct calibrate_row *row, double least,
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
    return predict_collective(row, 0.0, measured, predicted);
}

const char *calibrate_collective_large(const struct calibrate_row *row,
                                       double *measured, double *predicted)
{
    return predict_collective(row, LARGE_BYTES, measured, predicted);
}

/* Returns the GPU that the name of a group of links means.  Longer names stand
 * first: "B200" is a part of "GB200". */
static const struct gpu_type *linked_gpu(const struct calibrate_row *row)
{
    static const struct { const char *part, *name; } is[] = {
        { "GB200", "gb200" }, { "B200", "b200" }, { "H200", "h200" },
        { "H100", "h100" }, { "A100", "a100-80" }, { "V100", "v100-32" },
    };
    const char *link = row_text(row, "link");

    for (size_t i = 0; i < sizeof is / sizeof is[0]; i++)
        if (strstr(link, is[i].part) != NULL)
            return catalogue_gpu(row->catalogue, is[i].name);
    return NULL;
}

/* Between nodes: 3,200 Gb/s a node, which the one such row states. */
#define EFA_BPS (3200e9 / 8.0)

/* Time from a bus bandwidth: NCCL's counts 2 (n - 1) / n of the bytes for an
 * all-reduce, half of that for its halves (nccl-tests, doc/PERFORMANCE.md).
 * Specifications, floors at which a node is accepted, and links that were switched
 * off for a test are no measurements of what the law says. */
const char *calibrate_links(const struct calibrate_row *row,
                            double *measured, double *predicted)
{
    const char *metric = row_text(row, "metric");
    const struct gpu_type *gpu = linked_gpu(row);
    uint32_t gpus = row_count(row, "gpus", 1);
    uint32_t nodes = row_count(row, "nodes", 1);
    double bytes = row_number(row, "size_bytes", 0.0);
    double value = row_number(row, "value", 0.0), share = gpus;
    bool half = strncmp(metric, "all-reduce", 10) != 0 &&
                strstr(metric, "all_reduce") == NULL &&
                strstr(metric, "nccl-tests") == NULL;

    if (!row_is(row, "kind", "nccl") || strstr(metric, "floor") != NULL ||
        strstr(metric, "disabled") != NULL)
        return calibrate_not_mine;
    if (gpu == NULL)
        return "the GPU is not in the catalogue";
    if (gpus < nodes)
        return "there are more nodes than GPUs";
    struct gang gang = row_gang(gpu, gpus, gpus / nodes, EFA_BPS);

    share = (half ? 1.0 : 2.0) * (share - 1.0) / share;
    *measured = row_is(row, "unit", "us") ? value * 1e-6
                                          : bytes * share / (value * 1e9);
    *predicted = comm_gang_s(!half ? COMM_ALL_REDUCE
                             : strstr(metric, "gather") != NULL
                                 ? COMM_ALL_GATHER : COMM_REDUCE_SCATTER,
                             &gang, bytes);
    return bytes > 0.0 ? NULL : "the size is not in the row";
}
