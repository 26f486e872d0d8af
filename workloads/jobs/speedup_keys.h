/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedup_keys.h - the keys `elastic` and `rates` of jobs of known length:
 * other sizes and pools on which a job can run, and how fast it runs there.
 */
#ifndef WORKLOADS_JOBS_SPEEDUP_KEYS_H
#define WORKLOADS_JOBS_SPEEDUP_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/jobs/speedup.h"
#include "workloads/jobs/demand.h"

struct conf_node;
struct conf_schema;
struct job_form;

/* Reads both keys; either may be NULL.  Sets form->scaling and form->paced, and
 * *out if `rates` is a mapping.  False: *world->err is set. */
bool speedup_keys_read(const struct world *world, const struct conf_node *elastic,
                       const struct conf_node *rates, struct job_form *form,
                       const struct job_rates **out);
/* A job that asks for `gpus` can be resized only if the table of `scaling`, where there is one,
 * has that size.  False: it has not, and *err says so, at pos.  `scaling` may be NULL. */
bool speedup_check_size(const struct job_scaling *scaling, uint32_t gpus,
                        struct err_pos pos, struct err *err);
#define SPEEDUP_SIZES_MAX 64u   /* rows of a table of rates */
/* Sets the rate of a row in all pools of the mask. */
void speedup_set_rate(double *row, uint32_t pools, uint32_t mask, double rate);
/* Returns the pools that a name means, as bits: one, or those of a GPU type; 0: none. */
uint32_t speedup_pools_named(const struct world *world, const char *name);
/* Returns the pools that key i of the map `what` means, and adds them to *taken.  0:
 * the key names none, or one of *taken; *world->err is set. */
uint32_t speedup_pools_key(const struct world *world, const char *what,
                           const struct conf_node *map, size_t i,
                           uint32_t *taken);
/* Returns the largest number of GPUs of one type in these pools (0: in all). */
uint32_t speedup_gpus_max(const struct world *world, uint32_t pool_mask);

/* Reads the rates of all kinds of jobs from a JSON file of Gavel's throughputs.
 * Its types are names of pools or of GPU types; run times were measured on
 * `type`.  NULL: *world->err is set. */
struct speedup_kinds;
const struct speedup_kinds *speedup_kinds_read(const struct world *world,
                                               const struct conf_node *at,
                                               const char *path,
                                               const char *type);
/* Returns the rates of a kind, and in *rate_known its rate with `gpus` GPUs
 * where its run time was measured.  NULL: the file has no rates of that kind
 * and size. */
const struct job_rates *speedup_kind(const struct speedup_kinds *kinds,
                                     const char *kind, uint32_t gpus,
                                     double *rate_known);

extern const struct conf_schema speedup_elastic_schema;

#endif
