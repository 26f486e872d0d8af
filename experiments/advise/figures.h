/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * figures.h - what advice says of a job on a kind of node, as one number.
 *
 * Two families of figures.  Of the job as written: bytes on a GPU by part, whether it
 * fits, the largest batch; these need no search.  Of the cheapest layout on a kind of
 * node: cost, time, GPUs ...; these need a search, which is made once for each job and
 * tier of prices, and kept.
 */
#ifndef EXPERIMENTS_ADVISE_FIGURES_H
#define EXPERIMENTS_ADVISE_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/advise/advise.h"
#include "models/catalogue/catalogue.h"

/* In GB (1e9 bytes), USD, s, GPUs, fractions or counts a GPU, as figures_name says; FITS
 * and FEASIBLE are 0 or 1. */
enum figure {
    FIGURE_WEIGHTS, FIGURE_GRADIENTS, FIGURE_OPTIMIZER, FIGURE_ACTIVATIONS, FIGURE_KV,
    FIGURE_TOTAL, FIGURE_FRACTION, FIGURE_FITS, FIGURE_MOST,    /* these of the job as written */
    FIGURE_FEASIBLE, FIGURE_COST, FIGURE_TIME, FIGURE_GPUS, FIGURE_BUSY, FIGURE_MFU,
    FIGURE_CORES, FIGURE_WORKERS, FIGURE_COUNT
};
/* As a file names them; ends with NULL. */
extern const char *const figures_name[];
/* Returns "s", "fraction", "GB", "USD" or "count", static. */
const char *figures_unit(int figure);

struct figure_about {
    int figure, tier;           /* enum figure, enum price_tier */
    int64_t gpus;               /* only layouts of this number; 0: any */
};

/* What is asked, and what was found for it so far. */
struct asking {
    struct advise_world world;  /* at list prices */
    struct advise_job *job;     /* [job_count], of the workload */
    size_t job_count;
    /* At the prices of each tier; place NULL: not asked yet. */
    struct advise_world tier[TIER_COUNT];
    struct advice *advice[TIER_COUNT];  /* by job; job NULL: not searched */
};

/* Returns the number of the job in the mix, or SIZE_MAX. */
size_t figures_job(const struct asking *task, const char *name);
/* Returns the kind of node of that name, or NULL. */
const struct advise_place *figures_place(const struct advise_world *world, const char *name);
/* Returns a figure of a job on a kind of node; both names are known, and the world of
 * the tier is made.  NAN: no layout fits, or it has no price. */
double figures_value(struct asking *task, const char *job, const char *on,
                     const struct figure_about *about);

#endif
