/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gavel_rates.h - Gavel's file of rates, read once from its begin to its end.
 *
 * The file is JSON, as Gavel publishes it: by type of GPU, by kind and size of a
 * job, the rate alone ("null") and beside each other kind:
 *
 *     {"v100": {"('job type', 1)": {"null": 4.0, "('other', 1)": [1.0, 2.0], ...}, ...}, ...}
 *
 * It is streamed, since it has a row for each pair.
 */
#ifndef WORKLOADS_JOBS_GAVEL_RATES_H
#define WORKLOADS_JOBS_GAVEL_RATES_H

#include <stdbool.h>

struct arena;
struct err;
struct json;

/* What the reader of the file is told.  Texts live in the arena.  A function that fails
 * sets the err of the reading and returns false. */
struct gavel_visit {
    /* Is that type of GPU wanted?  Others are passed over. */
    bool (*wants)(void *self, const char *type);
    /* The rate of a job alone, in steps/s. */
    bool (*rate)(void *self, struct json *json, const char *type, const char *key,
                 double rate);
    /* Reads the rates beside the job whose key was read last; NULL: they are passed
     * over. */
    bool (*pair)(void *self, struct json *json, const char *type, const char *key);
};

/* Reads the file.  False: err says what is wrong, and where. */
bool gavel_rates_read(struct arena *arena, const char *path,
                      const struct gavel_visit *visit, void *self, struct err *err);

#endif
