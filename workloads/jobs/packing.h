/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packing.h - the key `packing` of jobs of known length: which jobs may hold
 * the same GPUs, and how fast each is then.
 */
#ifndef WORKLOADS_JOBS_PACKING_H
#define WORKLOADS_JOBS_PACKING_H

#include <stdbool.h>
#include <stddef.h>

#include "workloads/jobs/demand.h"

struct conf_node;
struct job_form;

/* A map from names of jobs to paces; NULL: nothing is known. */
bool packing_read(const struct world *world, const struct conf_node *map,
                  struct job_form *form);
/* Every name must be that of one of the forms. */
bool packing_names_ok(const struct world *world, const struct conf_node *map,
                      const struct job_form *const *form, size_t count);

#endif
