/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regimes.c - batch sizes by epoch, as Shockwave's simulator states them
 * (Zheng et al., NSDI 2023; github uw-mad-dash/shockwave, commit e07dd205,
 * scheduler/utils.py).
 *
 * accordion  (Agarwal et al., MLSys 2021) the largest batch size outside of
 *            the critical epochs of a model, but not in its first 30%
 * gns        (McCandlish et al. 2018; KungFu, OSDI 2020) the batch size doubles
 *            at certain epochs, found for each model, batch size and number of
 *            GPUs; what the table leaves out does not change
 *
 * There the last epoch of a job keeps its first batch size in regimes after the
 * second (a loop that ends early); here it does not.
 */
#include "workloads/formats/regimes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define DOUBLINGS_MAX 4u

/* What is known of a model of the traces. */
struct model {
    const char *name;           /* as job types begin */
    uint32_t samples;           /* dataset_len */
    uint32_t batch_max;         /* max_bs_dict and bs_limit; 0: none */
};

static const struct model models[] = {
    {"ResNet-18", 50000, 256}, {"ResNet-50", 100000, 128},
    {"Transformer", 10000, 128}, {"LM", 59675, 80},
    {"Recommendation", 117907, 8192},
};

/* Epochs from which on the batch size is twice as large; 0: no more. */
struct doublings {
    const char *model;          /* name, as in `model` */
    uint32_t batch, gpus;       /* of the job: what it begins with */
    uint32_t at[DOUBLINGS_MAX];
};

static const struct doublings gns[] = {
    {"ResNet-18", 16, 1, {31, 41, 51, 71}}, {"ResNet-18", 32, 1, {21, 31, 51}},
    {"ResNet-18", 64, 1, {11, 31}}, {"ResNet-18", 128, 1, {11}},
    {"ResNet-18", 16, 2, {21, 31, 91, 111}},
    {"ResNet-18", 32, 2, {11, 21, 41}}, {"ResNet-18", 64, 2, {21, 41}},
    {"ResNet-18", 128, 2, {41}}, {"ResNet-18", 16, 4, {11, 21, 81, 91}},
    {"ResNet-18", 32, 4, {21, 31, 61}}, {"ResNet-18", 64, 4, {11, 61}},
    {"ResNet-18", 128, 4, {11}},
    {"ResNet-50", 64, 1, {101}}, {"ResNet-50", 32, 2, {101, 111}},
    {"ResNet-50", 64, 2, {81}}, {"ResNet-50", 32, 4, {131, 221}},
    {"ResNet-50", 64, 4, {191}},
    {"LM", 5, 1, {31, 41, 61, 71}}, {"LM", 10, 1, {11, 21, 41}},
    {"LM", 20, 1, {11, 41}}, {"LM", 40, 1, {11}},
    {"LM", 5, 2, {31, 51, 61, 71}}, {"LM", 10, 2, {11, 31, 41}},
    {"LM", 20, 2, {31, 41}}, {"LM", 40, 2, {11}},
    {"LM", 5, 4, {11, 31, 71, 91}}, {"LM", 10, 4, {11, 31, 61}},
    {"LM", 20, 4, {11, 61}}, {"LM", 40, 4, {61}},
    {"Recommendation", 512, 1, {21, 41, 71, 91}},
    {"Recommendation", 1024, 1, {21, 51, 91}},
    {"Recommendation", 2048, 1, {21, 41}}, {"Recommendation", 4096, 1, {41}},
};

/* The text is a job type of Gavel: MODEL (batch size N). */
bool regime_type_read(const char *text, struct regime_type *out)
{
    static const char between[] = " (batch size ";
    const char *at = strstr(text, between);
    char *end;

    if (at == NULL || (size_t)(at - text) >= sizeof out->model)
        return false;
    memset(out, 0, sizeof *out);
    memcpy(out->model, text, (size_t)(at - text));
    out->batch = (uint32_t)strtoul(at + sizeof between - 1, &end, 10);
    if (strcmp(end, ")") != 0 || out->batch == 0)
        return false;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (strcmp(models[i].name, out->model) == 0) {
            out->samples = models[i].samples;
            out->batch_max = models[i].batch_max;
            return true;
        }
    return false;
}

/* Is the epoch one in which a larger batch would cost accuracy?  The numbers
 * are those of Shockwave's simulator. */
static bool is_critical(const struct regime_type *type, uint32_t epoch)
{
    uint32_t first = 10;

    if (strcmp(type->model, "ResNet-18") == 0)
        return epoch < (type->batch == 256 ? 20u : first) ||
               (epoch >= 150 && epoch < 160) || (epoch >= 250 && epoch < 260);
    if (strcmp(type->model, "ResNet-50") == 0)
        return epoch < 600 && epoch % 30 < 10;
    if (strcmp(type->model, "LM") == 0)
        return epoch < first;
    if (strcmp(type->model, "Recommendation") != 0)
        return true;            /* it never changes */
    if (type->batch <= 1024)
        first = 30;
    else if (type->batch == 2048)
        first = 40;
    return epoch < first || (epoch >= 60 && epoch < 70) ||
           (epoch >= 80 && epoch < 90);
}

/* Returns the batch size by the table of doublings, up to the model's bound. */
static uint32_t find_batch_gns(const struct regime_type *type, uint32_t gpus,
                               uint32_t epoch)
{
    uint32_t batch = type->batch;

    for (size_t i = 0; i < sizeof gns / sizeof gns[0]; i++) {
        if (strcmp(gns[i].model, type->model) != 0 ||
            gns[i].batch != type->batch || gns[i].gpus != gpus)
            continue;
        for (uint32_t k = 0; k < DOUBLINGS_MAX && gns[i].at[k] > 0; k++)
            if (epoch >= gns[i].at[k])
                batch *= 2;
    }
    return batch < type->batch_max ? batch : type->batch_max;
}

uint32_t regime_batch(const struct regime_type *type, enum regime_mode mode,
                      uint32_t gpus, uint32_t epochs, uint32_t epoch)
{
    assert(epoch < epochs && type->batch > 0);
    if (mode == REGIME_GNS)
        return find_batch_gns(type, gpus, epoch);
    if (mode == REGIME_ACCORDION && !is_critical(type, epoch) &&
        (double)epoch > epochs * 0.3)
        return type->batch_max;
    return type->batch;
}
