/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packing.h - the key `packing` of jobs of known length: which jobs may share
 * GPUs, and how fast each of them runs then.
 */
#ifndef WORKLOADS_JOBS_PACKING_H
#define WORKLOADS_JOBS_PACKING_H

#include <stdbool.h>
#include <stddef.h>

#include "workloads/jobs/demand.h"

struct conf_node;
struct job_form;

/* Reads a mapping from names of jobs to speeds into form->packing; map NULL:
 * the jobs do not share.  False: *world->err is set.  A speed is that beside
 * the other job over the speed alone. */
bool packing_read(const struct world *world, const struct conf_node *map,
                  struct job_form *form);
/* Checks that every name in the mapping is the name of a form.  False:
 * *world->err is set. */
bool packing_names_ok(const struct world *world, const struct conf_node *map,
                      const struct job_form *const *form, size_t count);

#endif
