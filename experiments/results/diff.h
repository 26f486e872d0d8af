/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.h - the first decision in which two runs part.
 */
#ifndef EXPERIMENTS_RESULTS_DIFF_H
#define EXPERIMENTS_RESULTS_DIFF_H

#include <stdbool.h>
#include <stdio.h>

struct err;

/* Reads decisions.csv of both folders side by side, trial by trial. */
bool diff_print(FILE *file, const char *left, const char *right,
                struct err *err);

#endif
