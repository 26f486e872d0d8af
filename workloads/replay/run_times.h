/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_times.h - `run_times:` of a trace: columns of the run time of a job on
 * each GPU type, or in each pool.
 */
#ifndef WORKLOADS_REPLAY_RUN_TIMES_H
#define WORKLOADS_REPLAY_RUN_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/jobs/demand.h"

struct conf_node;
struct csv;
struct err;
struct job_rates;
struct row;
struct run_times;

/* Reads the map of GPU types or pools to names of columns; NULL: *world->err is
 * set. */
const struct run_times *run_times_read(const struct world *world,
                                       const struct conf_node *map);
/* Returns the pools that any of them names, as bits. */
uint32_t run_times_pools(const struct run_times *times);
/* Finds the columns in an open file.  False: err names the one that is missing. */
bool run_times_find(const struct run_times *times, const struct csv *csv,
                    struct err *err);
/* Sets row->rates, in the arena, from the row that csv has read: its duration over
 * the run time in each pool.  An empty cell: the job cannot run there.  False: err
 * says which cell is no run time. */
bool run_times_row(const struct run_times *times, struct arena *arena,
                   const struct csv *csv, struct row *row, struct err *err);

#endif
