/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regimes.h - when jobs of Shockwave's traces change their batch size.
 */
#ifndef WORKLOADS_FORMATS_REGIMES_H
#define WORKLOADS_FORMATS_REGIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* What a job type of the traces is: "LM (batch size 10)". */
struct regime_type {
    char model[32];             /* "LM" */
    uint32_t batch;             /* samples of a step */
    uint32_t samples;           /* of its dataset: an epoch */
    uint32_t batch_max;         /* none is larger */
};
/* False: it has no batch size, or a model that is not known. */
bool regime_type_read(const char *text, struct regime_type *out);

/* How a job chooses the batch size of an epoch, see regimes.c. */
enum regime_mode { REGIME_STATIC, REGIME_ACCORDION, REGIME_GNS };
/* Returns the batch size of an epoch, from 0, of a job of `epochs` epochs on
 * `gpus` GPUs. */
uint32_t regime_batch(const struct regime_type *type, enum regime_mode mode,
                      uint32_t gpus, uint32_t epochs, uint32_t epoch);

#endif
