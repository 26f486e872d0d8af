/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * default_rows.h - the rows of defaults.h while they are collected.  For the files of this
 * room only.
 */
#ifndef EXPERIMENTS_PREFLIGHT_DEFAULT_ROWS_H
#define EXPERIMENTS_PREFLIGHT_DEFAULT_ROWS_H

#include <stdint.h>

#include "experiments/preflight/defaults.h"

struct arena;
struct experiment;
struct experiment_point;

/* The rows so far. */
struct rows {
    struct arena *arena;
    const struct experiment *experiment;
    struct default_row *row;    /* [count] */
    uint32_t count, room;
};

/* Texts must live as long as the rows.  _add: adds a row, unless an equal one is there.
 * _add_under: a row of the cluster or the workload that one policy meets by its `with:`, unless
 * it is that of all policies; `under` is " under POLICY", or "" for all. */
void default_rows_add(struct rows *rows, const char *of, const char *key, const char *value,
                      const char *from);
void default_rows_add_under(struct rows *rows, const char *of, const char *under, const char *key,
                            const char *value, const char *from);
/* default_world.c: what the cluster and the workload of a point take for granted. */
void default_rows_add_world(struct rows *rows, const struct experiment_point *point,
                            const char *under);
/* Adds the GPUs of each kind of job whose roles are others in `own`, what one policy meets,
 * than at the point: those of a colocated job are of the trainer alone. */
void default_rows_add_layouts(struct rows *rows, const struct experiment_point *point,
                              const struct experiment_point *own, const char *under);

#endif
