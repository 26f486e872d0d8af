/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advice_turns.h - at which plausible values of its inputs an answer of advise
 * turns.
 */
#ifndef EXPERIMENTS_ADVISE_ADVICE_TURNS_H
#define EXPERIMENTS_ADVISE_ADVICE_TURNS_H

#include <stdbool.h>
#include <stdio.h>

struct advice_check_options;
struct arena;
struct err;

/* Judges the claim of `sensitivity:` at each value of each input, all others as they
 * are, and writes sensitivity.csv into `dir`, or into out/NAME if that is NULL; a
 * sentence for each expectation goes to `out`, if any.  False: err says why. */
bool advice_turns_run(struct arena *arena, const char *path, const char *dir,
                      const struct advice_check_options *options, FILE *out,
                      struct err *err);

#endif
