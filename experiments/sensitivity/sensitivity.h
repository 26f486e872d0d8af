/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sensitivity.h - `sensitivity:` of an experiment: which inputs a verdict turns
 * on.
 *
 * Two questions for each claim: which inputs move its value most, over all of
 * their ranges together (effects, Sobol's indices); and which of them, alone,
 * turn its verdict.
 */
#ifndef EXPERIMENTS_SENSITIVITY_SENSITIVITY_H
#define EXPERIMENTS_SENSITIVITY_SENSITIVITY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct conf_schema;
struct err;
struct experiment;
struct folder;
struct probe;

extern const struct conf_schema sensitivity_schema, sobol_schema;

/* Checks `sensitivity:` of the experiment, if it has one, without running
 * anything.  False: err says what is wrong. */
bool sensitivity_check(struct arena *arena, const struct experiment *experiment,
                       struct err *err);

/* Does the experiment have no error at each value that is written for an input?  Reads it
 * there and runs nothing.  False: err says what is refused, at the place of the value. */
bool sensitivity_try(struct arena *arena, struct probe *probe, struct err *err);

struct sensitivity_options {
    const struct folder *dir;   /* gets sensitivity.csv */
    FILE *out;                  /* a table and a sentence for each claim; NULL: none */
    FILE *log;                  /* how many trials there are at most; NULL: none */
};
/* Ranks the inputs of the probe's experiment and writes sensitivity.csv into
 * options->dir. *unknown: inputs of which something is not known, since trials
 * failed.  False: err says why nothing was written; trials are kept by the probe. */
bool sensitivity_run(struct arena *arena, struct probe *probe,
                     const struct sensitivity_options *options, uint32_t *unknown,
                     struct err *err);

#endif
