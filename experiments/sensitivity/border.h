/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * border.h - `border:` of an experiment: where verdicts turn along one key.
 *
 * A claim that holds at one load tells little about others.  A border says up
 * to which value of a key a claim holds, and from which it does not; in between
 * it is undecided.
 */
#ifndef EXPERIMENTS_SENSITIVITY_BORDER_H
#define EXPERIMENTS_SENSITIVITY_BORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct conf_schema;
struct err;
struct experiment;
struct folder;
struct probe;

extern const struct conf_schema border_schema;

/* Checks `border:` of the experiment, if it has one, without running anything.
 * False: err says what is wrong. */
bool border_check(struct arena *arena, const struct experiment *experiment,
                  struct err *err);

/* Does the experiment have no error at each end of each border?  Reads it there and runs
 * nothing.  False: err says what is refused, at the place of the value. */
bool border_try(struct arena *arena, struct probe *probe, struct err *err);

struct border_options {
    const struct folder *dir;   /* gets border.csv */
    FILE *out;                  /* a sentence for each border; NULL: none */
    FILE *log;                  /* how many trials there are at most; NULL: none */
};
/* Finds all borders of the probe's experiment and writes border.csv into
 * options->dir. *unknown: borders that could not be found, since trials failed.
 * False: err says why nothing was written; trials are kept by the probe, so that
 * the search may be repeated at little cost. */
bool border_run(struct arena *arena, struct probe *probe,
                const struct border_options *options, uint32_t *unknown,
                struct err *err);

#endif
