/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrival_read.h - reads an arrival process as a workload file writes it.  For readers of
 * workloads.
 */
#ifndef WORKLOADS_RANDOM_ARRIVAL_READ_H
#define WORKLOADS_RANDOM_ARRIVAL_READ_H

#include <stdbool.h>

struct arena;
struct arrival;
struct conf_node;
struct conf_schema;
struct err;

/* Fills *out from the mapping `arrival:`; its arrays are in the arena.  False: *err is
 * set. */
bool arrival_read(struct arena *arena, const struct conf_node *conf,
                  struct arrival *out, struct err *err);
extern const struct conf_schema arrival_schema, arrival_burst_schema;

#endif
