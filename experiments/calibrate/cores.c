/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cores.c - what was measured on cores: decoding images, and small
 * models.
 *
 * Processors of clouds stand for the nearest of the catalogue: EPYC 9B14 is a
 * Zen 4 as the 9654, Xeon 8581C the generation after the 8480+, a c6i's the
 * Ice Lake of the 8380.
 */
#include "experiments/calibrate/suites.h"

#include <string.h>

#include "experiments/calibrate/row.h"
#include "models/catalogue/catalogue.h"
#include "models/laws/compute.h"
#include "models/laws/cores.h"
#include "models/laws/loader.h"
#include "models/types/gang.h"

/* Returns the processor of the catalogue that stands for the row's, or NULL. */
static const struct cpu_type *near_cpu(const struct calibrate_row *row)
{
    static const struct { const char *part, *name; } is[] = {
        { "9B14", "epyc-9654" }, { "8581C", "xeon-platinum-8480+" },
        { "c6i", "xeon-platinum-8380" },
    };
    const char *cpu = row_text(row, "cpu");

    for (size_t i = 0; i < sizeof is / sizeof is[0]; i++)
        if (strstr(cpu, is[i].part) != NULL)
            return catalogue_cpu(row->catalogue, is[i].name);
    return NULL;
}

/* Files are in memory, one process reads them, and no GPU is behind it: only the cores
 * limit.  The mean image of ImageNet has 500 x 375 pixels; what does not limit is
 * BEYOND any real bandwidth, in bytes/s. */
#define PIXELS (500.0 * 375.0)
#define BEYOND 1e15

/* Compares images/s that cores decode; storage, PCIe and the GPU are made so fast that they do
 * not limit.  Rows of other tasks belong to other suites. */
const char *calibrate_loader(const struct calibrate_row *row,
                             double *measured, double *predicted)
{
    const struct cpu_type *cpu = near_cpu(row);
    uint32_t workers = row_count(row, "threads_or_workers", 0);

    if (strncmp(row_text(row, "task"), "JPEG decode", 11) != 0 ||
        !row_is(row, "unit", "img/s"))
        return calibrate_not_mine;
    if (cpu == NULL)
        return "the CPU is not in the catalogue";
    struct loader_item item = loader_item(LOADER_IMAGE, PIXELS);
    struct loader_supply supply = {
        .storage_bps = BEYOND, .pcie_bps = BEYOND, .processes = 1,
        .workers = workers, .cores = workers > 0 ? workers : 1,
        .core_speed = cpu->core_speed,
    };

    *measured = row_number(row, "value", 0.0);
    *predicted = loader_rate(&item, &supply, BEYOND).items_per_s;
    return NULL;
}

/* One request at a time on the cores that the row names. */
const char *calibrate_core_forward(const struct calibrate_row *row,
                                   double *measured, double *predicted)
{
    const struct cpu_type *cpu = near_cpu(row);
    const struct llm *llm = catalogue_llm(row->catalogue, "distilbert");

    if (strstr(row_text(row, "task"), "DistilBERT") == NULL ||
        !row_is(row, "metric", "throughput"))
        return calibrate_not_mine;
    if (cpu == NULL)
        return "the CPU is not in the catalogue";
    *measured = row_number(row, "value", 0.0);
    *predicted = 1.0 / compute_cpu_encoder_s(llm, PRECISION_FP32, cpu,
                           row_number(row, "cores_used", 1.0), 1.0,
                           row_number(row, "seq_or_size", 0.0));
    return NULL;
}

/* Weights as they lie in the file of the model; the cache is short. */
const char *calibrate_core_decode(const struct calibrate_row *row,
                                  double *measured, double *predicted)
{
    const struct cpu_type *cpu = catalogue_cpu(row->catalogue,
                                               row_text(row, "near"));
    struct gang gang = { .nodes = 1, .cpu = cpu,
                         .cores = row_count(row, "cores", 0) };

    if (cpu == NULL || !cores_can(&gang, PRECISION_INT8))
        return "the CPU is not in the catalogue";
    *measured = 1.0 / row_number(row, "tokens_per_s", 0.0);
    *predicted = cores_s(&gang, PRECISION_INT8,
                         2e9 * row_number(row, "params_b", 0.0),
                         1e9 * row_number(row, "weights_gb", 0.0));
    return NULL;
}
