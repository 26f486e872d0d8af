/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * law_aids.h - the shipped catalogue and simple gangs, for tests of the laws.
 */
#ifndef TESTS_LAW_AIDS_H
#define TESTS_LAW_AIDS_H

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "models/catalogue/catalogue.h"
#include "models/types/gang.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

struct law_aids {
    struct arena *arena;
    const struct catalogue *catalogue;
};

static inline struct law_aids law_aids_new(void)
{
    struct law_aids aids = { .arena = arena_new(1 << 20) };
    struct err err = { 0 };

    aids.catalogue = catalogue_load(aids.arena, NULL, 0, &err);
    assert(aids.catalogue);
    return aids;
}

static inline void law_aids_free(struct law_aids *aids)
{
    arena_free(aids->arena);
}

/* nic_bps: of a node, all NICs. */
static inline struct gang law_gang(const struct law_aids *aids,
                                   const char *name, uint32_t gpus,
                                   uint32_t nodes, double nic_bps)
{
    const struct gpu_type *gpu = catalogue_gpu(aids->catalogue, name);
    bool nvlink = gpu->nvlink_bps > 0.0;
    struct gang gang = {
        .gpu = gpu, .gpus = gpus, .nodes = nodes,
        .intra_bps = nvlink ? gpu->nvlink_bps : gpu->pcie_bps,
        .intra_latency_s = nvlink ? gpu->nvlink_latency_s
                                  : gpu->pcie_latency_s,
        .inter_bps = nic_bps, .inter_latency_s = 9.7e-6,
    };
    return gang;
}

/* |a / b - 1| */
static inline double law_error(double a, double b)
{
    return fabs(a / b - 1.0);
}

#endif
