/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.h - the first decision in which two runs part.
 */
#ifndef EXPERIMENTS_RESULTS_DIFF_H
#define EXPERIMENTS_RESULTS_DIFF_H

#include <stdbool.h>
#include <stdio.h>

struct err;

/* Prints, for each trial that both folders have, the first decision that differs:
 * instant, queue, free GPUs, both choices.  Reads decisions.csv of both side by
 * side, in memory of a row each.  False: err says why. */
bool diff_print(FILE *file, const char *left, const char *right,
                struct err *err);

#endif
