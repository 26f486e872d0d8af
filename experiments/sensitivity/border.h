/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * border.h - `border:` of an experiment: where verdicts turn along one key.
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

/* Checks `border:` of the experiment, if it has one.  False: err says what is
 * wrong. */
bool border_check(struct arena *arena, const struct experiment *experiment,
                  struct err *err);

struct border_options {
    const struct folder *dir;   /* gets border.csv */
    FILE *out;                  /* a sentence for each border; NULL: none */
    FILE *log;                  /* how many trials there are at most; NULL: none */
};
/* Finds all borders of the probe's experiment and writes them.  *unknown: borders
 * that could not be found, as their trials failed.  False: err says why nothing was
 * written. */
bool border_run(struct arena *arena, struct probe *probe,
                const struct border_options *options, uint32_t *unknown,
                struct err *err);

#endif
