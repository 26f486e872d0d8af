/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedup.h - the keys `elastic` and `rates` of jobs of known length: which
 * other sizes and pools they can have, and how fast they are there.
 */
#ifndef WORKLOADS_JOBS_SPEEDUP_KEYS_H
#define WORKLOADS_JOBS_SPEEDUP_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "models/jobs/speedup.h"
#include "workloads/jobs/demand.h"

struct conf_node;
struct conf_schema;
struct job_form;

/* Either may be NULL.  Sets form->scaling and form->paced, and *rates where
 * `rates` is a map. */
bool speedup_keys_read(const struct world *world, const struct conf_node *elastic,
                       const struct conf_node *rates, struct job_form *form,
                       const struct job_rates **out);
/* The most GPUs of one type in these pools (0: any). */
uint32_t speedup_gpus_max(const struct world *world, uint32_t pool_mask);

/* Rates of all kinds of jobs in a JSON of Gavel's throughputs, whose types are
 * names of pools or of GPU types; lengths are known on `type`. */
struct speedup_kinds;
const struct speedup_kinds *speedup_kinds_read(const struct world *world,
                                               const struct conf_node *at,
                                               const char *path,
                                               const char *type);
/* NULL: there are none for that kind and size. */
const struct job_rates *speedup_kind(const struct speedup_kinds *kinds,
                                     const char *kind, uint32_t gpus,
                                     double *rate_known);

extern const struct conf_schema speedup_elastic_schema;

#endif
