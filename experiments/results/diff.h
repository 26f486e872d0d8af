/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.h - the first decision in which two runs part.
 */
#ifndef EXPERIMENTS_RESULTS_DIFF_H
#define EXPERIMENTS_RESULTS_DIFF_H

#include <stdbool.h>
#include <stdio.h>

struct arena;
struct err;

/* What one of two policies did at the decision where they part. */
struct diff_choice {
    const char *time_s;         /* as decisions.csv has it; "": no further decision */
    const char *text;           /* "start job 7 role train on [1:0-7]: done" */
};

/* The first decision in which two policies of one folder part, in their first seed
 * with decisions.  Texts belong to the caller's arena. */
struct diff_part {
    const char *seed;           /* NULL: they decide alike, or have no decisions here */
    struct diff_choice choice[2];
};

/* Fills *part for two policies at a point.  False: err says that decisions.csv
 * cannot be read. */
bool diff_find_part(struct arena *arena, const char *dir, const char *point,
                    const char *const policy[2], struct diff_part *part, struct err *err);

/* Prints, for each trial that both folders have, the first decision that differs:
 * instant, queue, free GPUs, both choices.  Reads decisions.csv of both side by
 * side, in memory of a row each.  False: err says why. */
bool diff_print(FILE *file, const char *left, const char *right,
                struct err *err);

#endif
