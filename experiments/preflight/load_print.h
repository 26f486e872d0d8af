/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_print.h - the offered load in words: for `validate`, for the end of a
 * run and for provenance.json.
 */
#ifndef EXPERIMENTS_PREFLIGHT_LOAD_PRINT_H
#define EXPERIMENTS_PREFLIGHT_LOAD_PRINT_H

#include <stdio.h>

struct arena;
struct err;
struct out;
struct experiment;

/* Prints the load of every point, pool and part to `to`; nothing if no rate is
 * known. */
void load_print(struct arena *arena, const struct experiment *experiment, FILE *to);
/* Warns of pools with a load above 1: once for all policies of the same load,
 * and at the worst point. */
typedef void load_warn_fn(void *self, const struct err *err);
void load_warn(struct arena *arena, const struct experiment *experiment,
               load_warn_fn *warn, void *self);
/* Writes an array of {point, policies, pool, of, capacity, rho} as JSON. */
void load_write(struct arena *arena, const struct experiment *experiment,
                struct out *out);

#endif
