/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * services_table.h - what services did, from services.csv: means over seeds,
 * as text at the end of a run and as HTML in the report.
 */
#ifndef EXPERIMENTS_REPORT_SERVICES_TABLE_H
#define EXPERIMENTS_REPORT_SERVICES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct arena;
struct err;
struct services_table;
struct sheet;

/* NULL without an err: the folder has no services.csv. */
struct services_table *services_table_read(struct arena *arena,
                                           const char *dir, struct err *err);
void services_table_print(const struct services_table *table, FILE *file);
/* To be freed.  keys: also those that all rows have alike. */
struct sheet *services_table_sheet(const struct services_table *table,
                                   bool keys);

/* The services of a folder, to tell their replicas in jobs.csv. */
struct service_names {
    const char **item;
    size_t count, room;
};
/* Reads the names of all services; none where there is no services.csv.  False: err says why. */
bool service_names_read(struct arena *arena, const char *dir, struct service_names *names,
                        struct err *err);
/* Is a row of jobs.csv a replica: "chat-7" of the kind chat? */
bool service_names_replica(const struct service_names *names, const char *job,
                           const char *kind);

#endif
