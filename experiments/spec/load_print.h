/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_print.h - the offered load in words: for `validate`, for the end of a run
 * and for provenance.json.
 */
#ifndef EXPERIMENTS_SPEC_LOAD_PRINT_H
#define EXPERIMENTS_SPEC_LOAD_PRINT_H

#include <stdio.h>

struct arena;
struct err;
struct out;
struct experiment;

/* Every point, pool and part; nothing where jobs come at no rate. */
void load_print(struct arena *arena, const struct experiment *experiment, FILE *to);
/* Warns of pools above 1: once for all policies that have the same load, with
 * the worst point. */
typedef void load_warn_fn(void *self, const struct err *err);
void load_warn(struct arena *arena, const struct experiment *experiment,
               load_warn_fn *warn, void *self);
/* An array of {point, policies, pool, of, capacity, rho}. */
void load_write(struct arena *arena, const struct experiment *experiment,
                struct out *out);

#endif
